import type { Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { choose, join, logIn, receiver } from './member'
import type { Server } from './server'

const phone = { width: 320, height: 640 }

/** Opens a page and checks it once its heading is shown. */
async function at(page: Page, server: Server, path: string, heading: string): Promise<void> {
  await page.goto(server.url + path)
  await expect(page.getByRole('heading', { level: 1, name: heading })).toBeAttached()
  await checkAccessibility(page, path)
}

test('accessibility: before the login', async ({ page, server }) => {
  await page.setViewportSize(phone)
  await at(page, server, '/app/welcome', 'Welcome')
  await at(page, server, '/shop/register', 'Create account')
  await at(page, server, '/shop/verify', 'Verify your e-mail')
  await at(page, server, '/shop/forgotten', 'Forgot your password?')
  await page.goto(`${server.url}/shop/login`)
  await page.getByLabel('E-mail or username').fill('nobody')
  await page.getByLabel('Password', { exact: true }).fill('nothing that is right')
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByRole('alert')).toBeVisible()
  await checkAccessibility(page, 'a refused login')
})

test('accessibility: menu and cart', async ({ page, server }) => {
  await page.setViewportSize(phone)
  await join(server, 'an@house.example')
  await logIn(page, server, 'an@house.example')
  await at(page, server, '/shop/orders', 'My orders')
  await at(page, server, '/shop/cart', 'Your cart')
  await page.goto(`${server.url}/shop`)
  await choose(page, 'Beef pho')
  await checkAccessibility(page, 'the menu')
  await page.getByRole('link', { name: 'Bun cha', exact: true }).click()
  await checkAccessibility(page, 'a dish')
  await page.getByRole('dialog').getByRole('button', { name: /^Add/ }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await server.quota('11', 0)
  await at(page, server, '/shop/cart', 'Your cart')
  await page.getByRole('button', { name: 'Empty cart' }).click()
  await checkAccessibility(page, 'the question before the cart is emptied')
  await page.getByRole('button', { name: 'Keep everything' }).click()
  await expect(page.getByText('Bun cha')).toBeVisible()
  await page.getByRole('button', { name: 'Empty cart' }).click()
  await page.getByRole('button', { name: 'Yes, empty it' }).click()
  await expect(page.getByText('Your cart is empty.')).toBeVisible()
})

test('accessibility: checkout, orders and account', async ({ page, server }) => {
  await page.setViewportSize(phone)
  await join(server, 'yen@house.example')
  await logIn(page, server, 'yen@house.example')
  await choose(page, 'Beef pho')
  await at(page, server, '/shop/checkout', 'Checkout')
  await receiver(page)
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('timer')).toBeVisible()
  await checkAccessibility(page, 'an order that waits')
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  await checkAccessibility(page, 'a paid order')
  await at(page, server, '/shop/orders', 'My orders')
  await at(page, server, '/shop/account', 'My account')
})

test('a whole order can be placed by keyboard', async ({ page, server }) => {
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
  await expect(page.getByRole('dialog')).toBeVisible()
  await tabTo(/^Add ·/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await tabTo(/View cart/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Your cart' })).toBeFocused()
  await tabTo(/One more/)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: /One more/ })).toBeFocused() // a change keeps the focus
  await expect(page.getByRole('group', { name: /Quantity/ })).toContainText('3')
  await tabTo(/Go to checkout/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Checkout' })).toBeFocused()
  for (const [label, text] of [[/^Name/, 'Phím'], [/^Phone/, '0901234567'], [/^Address/, '12 Hàng Bài, Hà Nội']] as const) {
    await tabTo(label)
    await page.keyboard.type(text)
  }
  await tabTo(/^Order and pay/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeFocused()
})
