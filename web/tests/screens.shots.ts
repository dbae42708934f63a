import type { Page } from '@playwright/test'

import { add, expect, sitDown, test } from './fixtures'

test.use({ file: 'screens' })

const languages = ['en', 'vi', 'zh-Hant']

/** Draws the page in every language and both themes. */
async function shoot(page: Page, name: string, size: string): Promise<void> {
  for (const language of languages) {
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      await page.evaluate((l) => {
        const select = document.querySelector('select')
        if (!select) return
        select.value = l
        select.dispatchEvent(new Event('change'))
      }, language)
      await expect(page.locator('html')).toHaveAttribute('lang', language)
      await expect(page.locator('html')).not.toContainText('Opening the menu')
      await page.waitForFunction(() => [...document.images].every((i) => i.complete || i.loading === 'lazy'))
      const dialog = (await page.getByRole('dialog').count()) > 0
      await page.screenshot({ path: `screenshots/${size}/${name}-${language}-${theme}.png`, fullPage: !dialog })
    }
  }
  await page.evaluate(() => {
    const select = document.querySelector('select')
    if (select) select.value = 'en'
    select?.dispatchEvent(new Event('change'))
  })
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
}

const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 }, narrow: { width: 320, height: 640 } }

for (const [size, viewport] of Object.entries(sizes)) {
  test(size, async ({ page, server }) => {
    test.setTimeout(240_000)
    await page.setViewportSize(viewport)
    await sitDown(page, server, size === 'phone' ? 'A2' : size === 'desktop' ? 'B2' : 'A4')
    const [first = '', second = ''] = size === 'desktop' ? ['Braised beef noodle soup', 'Danzai noodles'] : ['Beef pho', 'Chicken pho']
    await expect(page.getByRole('link', { name: first, exact: true })).toBeVisible()
    await shoot(page, '2-menu', size)
    await page.getByRole('link', { name: first, exact: true }).click()
    await shoot(page, '3-dish', size)
    await page.getByRole('button', { name: 'Close' }).click()
    await add(page, first, 'no onion')
    await add(page, second)
    await page.getByRole('link', { name: /View cart/ }).click()
    await shoot(page, '4-cart', size)
    await page.getByRole('button', { name: /Order and pay/ }).click()
    await expect(page.getByRole('timer')).toBeVisible()
    await shoot(page, '6-waiting', size)
    await page.getByRole('button', { name: 'Make a test payment' }).click()
    await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
    await shoot(page, '7-paid', size)
    await page.goto(server.url + '/app/visit')
    await expect(page.getByRole('article')).toBeVisible()
    await shoot(page, '8-visit', size)
    await page.goto(server.url + '/app/closed/ended')
    await shoot(page, '9-closed', size)
  })
}
