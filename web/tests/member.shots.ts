import type { Page } from '@playwright/test'

import { expect, test } from './fixtures'
import { choose, join, logIn, password } from './member'

test.use({ file: 'member' })

const languages = ['en', 'vi', 'zh-Hant']

/** Draws the page in every language and both themes. */
async function shoot(page: Page, name: string, size: string): Promise<void> {
  for (const language of languages) {
    await page.locator('header select').first().selectOption(language)
    await expect(page.locator('html')).toHaveAttribute('lang', language)
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.waitForFunction(() => [...document.images].every((i) => i.complete || i.loading === 'lazy'))
      const dialog = (await page.getByRole('dialog').count()) > 0
      await page.screenshot({ path: `screenshots/member-${size}/${name}-${language}-${theme}.png`, fullPage: !dialog })
    }
  }
  await page.locator('header select').first().selectOption('en')
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
}

const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 }, narrow: { width: 320, height: 640 } }

for (const [size, viewport] of Object.entries(sizes)) {
  test(`member ${size}`, async ({ page, server }) => {
    test.setTimeout(240_000)
    await page.setViewportSize(viewport)
    const email = `${size}@house.example`
    await join(server, email, { firstName: 'Lan', surname: 'Nguyễn' })
    await page.goto(server.url)
    await expect(page.getByRole('heading', { name: 'Welcome' })).toBeVisible()
    await shoot(page, '01-welcome', size)
    await page.goto(`${server.url}/shop/register`)
    await shoot(page, '02-register', size)
    await page.goto(`${server.url}/shop/verify`)
    await shoot(page, '03-verify', size)
    await page.goto(`${server.url}/shop/forgotten`)
    await page.getByLabel('E-mail', { exact: true }).fill(email)
    await page.getByRole('button', { name: 'Send code' }).click()
    await page.getByRole('alert').or(page.getByLabel('Code from the e-mail')).waitFor()
    await shoot(page, '04-forgotten', size)
    await page.goto(`${server.url}/shop/login`)
    await page.getByLabel('E-mail or username').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(`${password}?`)
    await page.getByRole('button', { name: 'Log in' }).click()
    await expect(page.getByRole('alert')).toContainText('Wrong e-mail or password')
    await shoot(page, '05-login', size)
    await logIn(page, server, email)
    await expect(page.getByRole('link', { name: 'Beef pho', exact: true })).toBeVisible()
    await page.goto(`${server.url}/shop/cart`)
    await expect(page.getByText('Your cart is empty.')).toBeVisible()
    await shoot(page, '06-cart-empty', size)
    await page.goto(`${server.url}/shop/orders`)
    await expect(page.getByText('You haven’t ordered anything yet.')).toBeVisible()
    await shoot(page, '07-orders-empty', size)
    await page.goto(`${server.url}/shop`)
    await choose(page, 'Beef pho')
    await choose(page, 'Bun cha')
    await shoot(page, '08-menu', size)
    await page.getByRole('link', { name: 'Chicken pho', exact: true }).click()
    await shoot(page, '09-dish', size)
    await page.getByRole('button', { name: 'Close' }).click()
    await server.quota('11', 0)
    await page.goto(`${server.url}/shop/cart`)
    await expect(page.getByText('Sold out, not charged')).toBeVisible()
    await shoot(page, '10-cart', size)
    await server.quota('11', 20)
    await page.goto(`${server.url}/shop/checkout`)
    await expect(page.getByLabel('Name')).toHaveValue('Lan Nguyễn')
    await shoot(page, '11-checkout', size)
    await page.getByLabel('Phone').fill('0901234567')
    await page.getByLabel(/Note for the courier/).fill('Cổng số 2, mã 4711#\nTầng 3, gọi trước 5 phút')
    await page.getByLabel('Address', { exact: true }).fill('12 Hàng Bài, Hoàn Kiếm, Hà Nội')
    await page.getByRole('radio', { name: /Test payment/ }).check()
    await page.getByRole('button', { name: /Order and pay/ }).click()
    await expect(page.getByRole('timer')).toBeVisible()
    await shoot(page, '12-waiting', size)
    await page.getByRole('button', { name: 'Make a test payment' }).click()
    await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
    await shoot(page, '13-paid', size)
    await page.goto(`${server.url}/shop/orders`)
    await expect(page.getByRole('article')).toBeVisible()
    await shoot(page, '14-orders', size)
    await page.goto(`${server.url}/shop/account`)
    await expect(page.getByText('This device')).toBeVisible()
    await shoot(page, '15-account', size)
  })
}
