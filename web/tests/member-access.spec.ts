import type { Page } from '@playwright/test'

import { choose, join, logIn, receiver } from './home'
import { expect, test, wantAccessible } from './house'

test.use({ file: 'member-access' })

const languages = ['en', 'vi', 'zh-Hant']

/** Looks at what is shown in every language and both themes. */
async function examine(page: Page, what: string): Promise<void> {
  const shown = async (language: string) => {
    await page.evaluate((l) => {
      const select = document.querySelector<HTMLSelectElement>('header select')
      if (select) select.value = l
      select?.dispatchEvent(new Event('change'))
    }, language)
    await expect(page.locator('html')).toHaveAttribute('lang', language)
  }
  for (const language of languages) {
    await shown(language)
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await wantAccessible(page, `${what} in ${language}, ${theme}`)
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(over, `${what} in ${language} is too wide`).toBeLessThanOrEqual(0)
    }
  }
  await shown('en')
}

test('every page can be used by everybody', async ({ page, server }) => {
  test.setTimeout(420_000)
  await page.setViewportSize({ width: 320, height: 640 })
  await join(server, 'an@house.example')
  const at = async (path: string, heading: string) => {
    await page.goto(server.url + path)
    await expect(page.getByRole('heading', { level: 1, name: heading })).toBeAttached()
    await examine(page, path || 'welcome')
  }
  await at('', 'Welcome')
  await at('/shop/register', 'Make an account')
  await at('/shop/verify', 'Prove your address')
  await at('/shop/forgotten', 'Forgotten password')
  await page.goto(`${server.url}/shop/login`)
  await page.getByLabel('E-mail address or username').fill('nobody')
  await page.getByLabel('Password', { exact: true }).fill('nothing that is right')
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByRole('alert')).toBeVisible()
  await examine(page, 'a refused login')
  await logIn(page, server, 'an@house.example')
  await at('/shop/orders', 'My orders')
  await at('/shop/cart', 'Your cart')
  await page.goto(`${server.url}/shop`)
  await choose(page, 'Beef pho')
  await examine(page, 'the menu')
  await page.getByRole('link', { name: 'Bun cha', exact: true }).click()
  await examine(page, 'a dish')
  await page.getByRole('button', { name: /^Add/ }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await server.quota('11', 0)
  await at('/shop/cart', 'Your cart')
  await server.quota('11', 20)
  await at('/shop/checkout', 'Checkout')
  await receiver(page)
  await page.getByRole('radio', { name: /Play money/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('timer')).toBeVisible()
  await examine(page, 'an order that waits')
  await page.getByRole('button', { name: 'Pay with play money' }).click()
  await expect(page.getByRole('heading', { name: /it is paid/ })).toBeVisible()
  await examine(page, 'a paid order')
  await at('/shop/orders', 'My orders')
  await at('/shop/account', 'My account')
})

test('a whole order needs nothing but a keyboard', async ({ page, server }) => {
  await join(server, 'phim@house.example')
  await logIn(page, server, 'phim@house.example')
  const tabTo = async (name: RegExp) => {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press('Tab')
      const text = await page.locator(':focus').evaluate((e) =>
        [e.getAttribute('aria-label'), (e as HTMLInputElement).labels?.[0]?.innerText, (e as HTMLElement).innerText].find(Boolean) ?? '')
      if (name.test(text)) return
    }
    throw new Error(`no way to ${String(name)}`)
  }
  await expect(page.getByRole('link', { name: 'Rolled pho', exact: true })).toBeVisible()
  await tabTo(/^Rolled pho$/)
  await page.keyboard.press('Enter')
  await tabTo(/^Add/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await tabTo(/View cart/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Your cart' })).toBeFocused()
  await tabTo(/One more/)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: /One more/ })).toBeFocused() // a change takes the focus from nobody
  await expect(page.getByRole('group', { name: /How many/ })).toContainText('3')
  await tabTo(/Go to checkout/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Checkout' })).toBeFocused()
  for (const [label, text] of [[/^Name/, 'Phím'], [/^Telephone/, '0901234567'], [/^Address/, '12 Hàng Bài, Hà Nội']] as const) {
    await tabTo(label)
    await page.keyboard.type(text)
  }
  await tabTo(/^Order and pay/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Waiting for your payment' })).toBeFocused()
})
