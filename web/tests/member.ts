import { expect, type Page } from '@playwright/test'

import type { Server } from './server'

export const password = 'seven pots of pho'

/** Waits for the next e-mail to an address and returns its code. */
export async function codeFor(server: Server, email: string, before = 0): Promise<string> {
  await expect.poll(() => server.codes(email).length, { timeout: 20_000 }).toBeGreaterThan(before)
  return server.codes(email).at(-1) ?? ''
}

/** Creates an account with a verified e-mail address, without a browser. */
export async function join(server: Server, email: string, more: Record<string, string> = {}): Promise<void> {
  const post = async (path: string, body: unknown) => {
    const response = await fetch(server.url + path, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${String(response.status)} ${await response.text()}`)
  }
  const before = server.codes(email).length // of an account that had the address
  await post('/auth/register', { email, password, ...more })
  await post('/auth/otp/verify', { purpose: 'VERIFY', email, code: await codeFor(server, email, before) })
}

/** Logs in on the login page and waits for the page `to`. */
export async function logIn(page: Page, server: Server, name: string, to = '/shop'): Promise<void> {
  await page.goto(`${server.url}/shop/login?to=${encodeURIComponent(to)}`)
  await page.getByLabel('E-mail or username').fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByRole('link', { name: 'My account' })).toBeVisible()
}

/** Puts a dish into the member's cart from the menu. */
export async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^(Add|Empty and add)/ }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
}

/** Fills in the receiver of an order. */
export async function receiver(page: Page): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill('Nguyễn Lan')
  await page.getByLabel('Phone').fill('0901234567')
  await page.getByLabel('Address', { exact: true }).fill('12 Hàng Bài, Hoàn Kiếm, Hà Nội')
}
