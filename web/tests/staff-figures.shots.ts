import type { Page } from '@playwright/test'

import { settle } from './accessibility'
import { expect, test } from './fixtures'
import { enter, order, sizes } from './staff'

test.use({ file: 'staff-figures' })

const languages = ['en', 'vi', 'zh-Hant']

/** Draws the pages at these addresses in every language and both themes. */
async function shoot(page: Page, url: string, paths: string[], size: string): Promise<void> {
  for (const language of languages) {
    await page.evaluate((l) => {
      localStorage.setItem('comanda.staff.language', l)
    }, language)
    for (const path of paths) {
      await page.goto(`${url}/console/${path}`)
      await expect(page.locator('html')).toHaveAttribute('lang', language)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.getByRole('status').filter({ hasText: /…/ })).toHaveCount(0)
      if (path.startsWith('reports')) await expect(page.getByRole('table').or(page.getByRole('main').locator('.block')).first()).toBeVisible()
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
        await settle(page)
        await page.screenshot({ path: `screenshots/staff-${size}/${path.replaceAll('/', '-')}-${language}-${theme}.png`, fullPage: true })
      }
    }
  }
}

for (const [size, viewport] of Object.entries(sizes)) {
  test(`figures, ${size}`, async ({ page, server }) => {
    test.setTimeout(400_000)
    await page.setViewportSize(viewport)
    for (const label of ['A1', 'A2', 'A3']) await order(server, label, 'SANDBOX')
    await order(server, 'A4', 'COUNTER')
    await enter(page, server, 'owner', 'system')
    const paths = [
      'reports/sales-days', 'reports/sales-hours', 'reports/dishes', 'reports/quotas', 'reports/tickets', 'reports/payments', 'reports/expired',
      'reports/refunds', 'users', 'roles', 'roles/4', 'audit', 'profile', 'system', 'system/letters', 'system/checks',
    ]
    await shoot(page, server.url, paths, size)
  })
}
