import type { Page } from '@playwright/test'

import { add, expect, sitDown, test, wantAccessible } from './house'

test.use({ file: 'access' })

/** Looks at what is shown in every language and both themes. */
async function examine(page: Page, what: string): Promise<void> {
  for (const language of ['en', 'vi', 'zh-Hant']) {
    await page.evaluate((l) => {
      const select = document.querySelector('select')
      if (select) select.value = l
      select?.dispatchEvent(new Event('change'))
    }, language)
    await expect(page.locator('html')).toHaveAttribute('lang', language)
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await wantAccessible(page, `${what} in ${language}, ${theme}`)
    }
  }
  await page.evaluate(() => {
    const select = document.querySelector('select')
    if (select) select.value = 'en'
    select?.dispatchEvent(new Event('change'))
  })
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
}

test('every screen can be used by everybody', async ({ page, server }) => {
  test.setTimeout(420_000)
  await server.quota('13', 2)
  await server.quota('8', 0)
  await sitDown(page, server, 'A5')
  await examine(page, 'home')
  await page.getByRole('link', { name: 'Start ordering' }).click()
  await expect(page.getByText('2 left')).toBeVisible()
  await expect(page.getByText('Sold out')).toBeVisible()
  await examine(page, 'menu')
  await page.getByRole('link', { name: 'Fried spring rolls', exact: true }).click()
  await expect(page.getByRole('button', { name: /^Add/ })).toBeDisabled()
  await examine(page, 'a dish that is sold out')
  await page.getByRole('button', { name: 'Close' }).click()
  await add(page, 'Wok-seared beef pho', 'no garlic')
  await add(page, 'Beef pho')
  await server.quota('13', 0)
  await expect(page.getByRole('alert')).toContainText('There is not enough')
  await page.getByRole('link', { name: /View cart/ }).click()
  await examine(page, 'a cart with something sold out')
  await page.getByRole('button', { name: 'Remove Wok-seared beef pho' }).click()
  await page.getByRole('button', { name: 'Review the order' }).click()
  await examine(page, 'review')
  await page.getByRole('radio', { name: /Play money/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('timer')).toBeVisible()
  await examine(page, 'waiting')
  await page.getByRole('button', { name: 'Let it fail' }).click()
  await expect(page.getByRole('heading', { name: /did not succeed/ })).toBeVisible()
  await examine(page, 'failed')
  await page.getByRole('button', { name: 'Cancel this order' }).click()
  await expect(page.getByRole('heading', { name: 'Order cancelled' })).toBeVisible()
  await examine(page, 'cancelled')
  await page.getByRole('button', { name: 'Put the dishes back' }).click()
  await page.getByRole('button', { name: 'Review the order' }).click()
  await page.getByRole('radio', { name: /Play money/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await page.getByRole('button', { name: 'Pay with play money' }).click()
  await expect(page.getByRole('heading', { name: /it is paid/ })).toBeVisible()
  await examine(page, 'paid')
  await page.getByRole('link', { name: 'My visit' }).last().click()
  await expect(page.getByRole('article')).toHaveCount(2)
  await examine(page, 'visit')
  for (const reason of ['scan', 'unknown', 'revoked', 'staff', 'ended', 'moved', 'branch', 'elsewhere']) {
    await page.goto(`${server.url}/app/closed/${reason}`)
    await expect(page.getByRole('heading')).toBeVisible()
    await wantAccessible(page, reason)
  }
  await server.quota('13', 12)
  await server.quota('8', null)
})

test('a whole order needs nothing but a keyboard', async ({ page, server }) => {
  const tabTo = async (name: RegExp) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab')
      const focused = page.locator(':focus')
      const text = await focused.evaluate((e) => e.getAttribute('aria-label') ?? (e as HTMLElement).innerText ?? '')
      if (!name.test(text)) continue
      // What has the focus can be seen: nothing lies over its middle.
      expect(await focused.evaluate((e) => {
        const b = e.getBoundingClientRect()
        const top = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2)
        return e.contains(top) || (top?.contains(e) ?? false) || top?.closest('article')?.contains(e)
      }), String(name)).toBe(true)
      return
    }
    throw new Error(`no way to ${String(name)}`)
  }
  await sitDown(page, server, 'A6')
  await tabTo(/Start ordering/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('link', { name: 'Rolled pho', exact: true })).toBeVisible()
  await tabTo(/^Rolled pho$/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Rolled pho' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'Rolled pho', exact: true })).toBeFocused()
  await page.keyboard.press('Enter')
  await tabTo(/One more/)
  await page.keyboard.press('Enter')
  await tabTo(/^Add/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await tabTo(/View cart · 2 dishes/)
  await page.keyboard.press('Enter')
  await tabTo(/Review the order/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Review and pay' })).toBeFocused()
  await tabTo(/^Order and pay/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Waiting for your payment' })).toBeFocused()
  await tabTo(/Pay with play money/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: /it is paid/ })).toBeVisible()
})

test('nothing is cut off on narrow and on enlarged pages', async ({ page, server }) => {
  await page.setViewportSize({ width: 320, height: 480 })
  await sitDown(page, server, 'B5')
  const wantNoSideways = async (what: string) => {
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(over, what).toBeLessThanOrEqual(0)
  }
  for (const [path, heading] of [['/app', ''], ['/app/order', 'Menu'], ['/app/visit', 'My visit'], ['/app/checkout', 'Review and pay']]) {
    await page.goto(server.url + (path ?? ''))
    await expect(page.getByRole('heading', { level: 1, name: heading ?? '' })).toBeAttached()
    await wantNoSideways(path ?? '')
  }
})
