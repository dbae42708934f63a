import type { Page } from '@playwright/test'

import { expect, wantAccessible } from './house'
import { password, type Server } from './server'

/** Logs in as one of the demo's accounts. */
export async function enter(page: Page, server: Server, name: string, to = ''): Promise<void> {
  await page.goto(`${server.url}/console/${to}`)
  await page.getByLabel('E-mail address or username').fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page).not.toHaveURL(/login/)
}

interface Ordered {
  id: string
  number: string
  totalPrice: number
  payment: { redirectUrl: string | null }
  visitId: string
  token: string
}

/** Orders two dishes at a table, as a guest's phone does. */
export async function order(server: Server, label: string, method: 'COUNTER' | 'SANDBOX' | 'VNPAY' | 'LINEPAY'): Promise<Ordered> {
  const link = (await server.table(label)).link
  const landed = await guest<{ customerToken: string; visitId: string; branchId: string; tableId: string }>(
    server, '/cis/landing', { qr: link.split('/').at(-1) })
  const menu = await guest<{ menuVersionId: string; categories: { items: { itemId: string }[] }[] }>(
    server, '/cis/menu/active', { branchId: landed.branchId, tableId: landed.tableId }, landed.customerToken)
  const [first, second] = menu.categories.flatMap((c) => c.items)
  const placed = await guest<Ordered>(server, '/cis/order/create', {
    items: [{ itemId: first?.itemId, qty: 2, notes: 'no onion' }, { itemId: second?.itemId, qty: 1 }],
    paymentMethod: method, clientTxnId: `t-${label}-${String(Math.random())}`, menuVersionId: menu.menuVersionId, visitId: landed.visitId,
  }, landed.customerToken)
  if (method === 'SANDBOX') {
    await guest(server, '/cis/payments/mock-callback', { orderId: placed.id, method, result: 'SUCCESS' }, landed.customerToken)
  }
  return { ...placed, visitId: landed.visitId, token: landed.customerToken }
}

/** Orders, and pays on the page of a gateway's simulator, of which certain things go wrong from then on. */
export async function payAt(
  page: Page, server: Server, gateway: 'vnpay' | 'linepay', label: string, faults: object,
): Promise<Ordered> {
  const placed = await order(server, label, gateway === 'vnpay' ? 'VNPAY' : 'LINEPAY')
  await faulty(server, gateway, faults)
  await page.goto(placed.payment.redirectUrl ?? '')
  await page.locator('button[value=pay]').click()
  await expect(page).not.toHaveURL(/\/sim\//)
  return placed
}

/** Has a gateway's simulator do certain things wrong, and nothing else. */
export async function faulty(server: Server, gateway: 'vnpay' | 'linepay', faults: object): Promise<void> {
  const response = await fetch(`${server.url}/sim/${gateway}/control`, {
    method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ faults }),
  })
  if (!response.ok) throw new Error(`${gateway}: ${await response.text()}`)
}

/** Asks the server as a guest's phone does. */
export async function guest<T>(server: Server, path: string, body: unknown, token = ''): Promise<T> {
  const response = await fetch(server.url + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json', ...(token ? { 'X-Customer-Token': token } : {}) },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${String(response.status)} ${text}`)
  return JSON.parse(text) as T
}

/** Waits until nothing is on its way any more, such as a colour to that of another theme. */
export async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.getAnimations().every((a) => !Number.isFinite(a.effect?.getComputedTiming().endTime) || a.playState !== 'running'))
}

/** Has the console speak a language, as if it was chosen in another window: whatever is open stays open. */
async function speak(page: Page, language: string): Promise<void> {
  await page.evaluate((l) => {
    dispatchEvent(new StorageEvent('storage', { key: 'comanda.staff.language', newValue: l }))
  }, language)
  await expect(page.locator('html')).toHaveAttribute('lang', language)
}

/** Looks at what is shown in every language and both themes. Of a theme only the colours are another's. */
export async function examine(page: Page, what: string): Promise<void> {
  for (const language of ['vi', 'zh-Hant', 'en']) {
    await speak(page, language)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await settle(page)
      await wantAccessible(page, `${what} in ${language}, ${colorScheme}`, colorScheme === 'dark' ? 'contrast' : 'everything')
    }
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(over, `${what} in ${language} is too wide`).toBeLessThanOrEqual(0)
  }
}

export const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } }
