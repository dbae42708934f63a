import type { Page } from '@playwright/test'

import { settle } from './accessibility'
import { expect, test } from './fixtures'
import { enter, order, sizes } from './staff'

test.use({ file: 'staff-menu' })

const looks = [
  { language: 'en', theme: 'light' },
  { language: 'vi', theme: 'dark' },
  { language: 'zh-Hant', theme: 'light' },
  { language: 'en', theme: 'dark' },
] as const

/** Draws a page, and then one of its dialogs, in several languages and both themes. */
async function shoot(page: Page, name: string, size: string, open?: (page: Page) => Promise<void>): Promise<void> {
  for (const { language, theme } of looks) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await page.evaluate((l) => {
      localStorage.setItem('comanda.staff.language', l)
    }, language)
    await page.reload()
    await expect(page.locator('html')).toHaveAttribute('lang', language)
    await expect(page.locator('h1')).toBeVisible()
    await expect(page.getByRole('progressbar')).toHaveCount(0)
    await open?.(page)
    await settle(page)
    await page.screenshot({ path: `screenshots/staff-${size}/${name}-${language}-${theme}.png`, fullPage: !open })
  }
}

let draft = ''

// Screenshots of every page in every size.
test.beforeAll(async ({ server }) => {
  draft = (await server.staff<{ id: string }>('POST', '/api/menus/1/versions')).id
  await order(server, 'A1', 'COUNTER')
  await server.staff('POST', '/api/menu-items/12/86', { until: 'END_OF_DAY' })
  await server.quota('13', 3)
  const beef = { branchId: '1', itemId: 'beef', name: 'Thịt bò', unit: 'kg', lowAt: 5 }
  const { id: item } = await server.staff<{ id: string }>('POST', '/api/stock/items', beef)
  await server.staff('POST', `/api/stock/items/${item}/adjustments`, { kind: 'RECEIVE', quantity: 4, note: 'Chợ Long Biên' })
  await server.staff('POST', '/api/stock/items', { branchId: '1', itemId: 'lime', name: 'Chanh', lowAt: 2 })
  await server.staff('POST', '/inventory/reservations', {
    orderId: 'catering-7', branchId: '1', items: [{ itemId: 'beef', quantity: 2 }], ttlSeconds: 3600,
  })
  await server.staff('PUT', '/api/menu-items/11/recipe', { lines: [{ itemId: 'beef', quantity: 1 }] })
})

for (const [size, viewport] of Object.entries(sizes)) {
  test(`the menu on a ${size}`, async ({ page, server }) => {
    test.setTimeout(600_000)
    await page.setViewportSize(viewport)
    await enter(page, server, 'owner', 'availability')
    const at = async (path: string, name: string, open?: (page: Page) => Promise<void>) => {
      await page.goto(`${server.url}/console/${path}`)
      await shoot(page, name, size, open)
    }
    const first = (what: string) => (p: Page) => p.locator(what).first().click()
    await at('availability', '1-availability')
    await at('availability', '1-availability-off', first('article .v-btn.text-error'))
    await at('availability', '1-availability-pause', first('section .v-btn'))
    await at('dishes', '2-dishes')
    await at('dishes', '2-dish', first('li button.name'))
    await at('categories', '3-categories')
    await at('menus', '4-menus')
    await at(`menu-versions/${draft}`, '5-version')
    await at(`menu-versions/${draft}`, '5-version-line', first('li .tools > .v-btn'))
    await at(`menu-versions/${draft}/preview`, '6-preview')
    await at('stock', '7-stock')
    await at('stock', '7-stock-adjust', first('li .tools .v-btn'))
    await at('recipes', '8-recipes')
    await at('recipes', '8-recipe', first('main section .v-list-item'))
    await at('reservations', '9-reservations')
  })
}
