import type { Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { expect, sitDown, test } from './fixtures'
import { join, logIn, password as memberPassword } from './member'
import type { Server } from './server'
import { enter, sizes } from './staff'

interface Interest {
  items: { dishId: string; name: string; viewed: number; added: number; orders: number }[]
  totals: { menuPages: number; cartPages: number }
}

async function post<T>(server: Server, path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(server.url + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${String(response.status)} ${await response.text()}`)
  return (await response.json()) as T
}

/** Sells six portions of each of the first dishes of the menu and returns their names. */
async function sell(server: Server, label: string, dishes: number): Promise<string[]> {
  const link = (await server.table(label)).link
  const landed = await post<{ customerToken: string; visitId: string; branchId: string; tableId: string }>(
    server, '/cis/landing', { qr: link.split('/').at(-1) })
  const guest = { 'X-Customer-Token': landed.customerToken }
  const menu = await post<{ menuVersionId: string; categories: { items: { itemId: string; name: string; groups?: unknown[] }[] }[] }>(
    server, '/cis/menu/active?locale=en', { branchId: landed.branchId, tableId: landed.tableId })
  const sold = menu.categories.flatMap((c) => c.items).filter((i) => !i.groups?.length).slice(0, dishes)
  const placed = await post<{ id: string }>(server, '/cis/order/create', {
    items: sold.map((i) => ({ itemId: i.itemId, qty: 6 })), paymentMethod: 'SANDBOX', clientTxnId: `views-${label}`,
    menuVersionId: menu.menuVersionId, visitId: landed.visitId,
  }, guest)
  await post(server, '/cis/payments/mock-callback', { orderId: placed.id, method: 'SANDBOX', result: 'SUCCESS' }, guest)
  return sold.map((i) => i.name)
}

const report = (page: Page, path: string) => page.waitForResponse((r) => r.url().endsWith(path) && r.status() === 204)

test('guests see what is popular, and the manager what guests look at', async ({ page, another }) => {
  const server = await another() // other stories sell dishes, too
  const looked = report(page, '/cis/views')
  await sitDown(page, server, 'A1')
  await looked // the cards on the screen
  await expect(page.getByText('Popular', { exact: true })).toHaveCount(0)

  const names = await sell(server, 'A2', 3)
  const name = names[0] ?? ''
  const row = page.getByRole('region', { name: 'Popular today' })
  await page.reload()
  await expect(page.getByText('Popular', { exact: true })).toHaveCount(3)
  // The row is shown only if it is known when the menu appears.
  await expect(async () => {
    await page.reload()
    await expect(row.getByRole('link')).toHaveCount(3, { timeout: 2000 })
  }).toPass()
  await checkAccessibility(page, 'popular dishes')

  await row.getByRole('link', { name }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: /^Add/ }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByRole('link', { name: /View cart/ }).click()
  const reported = report(page, '/cis/views')
  await expect(page.getByRole('dialog', { name: 'Your cart' })).toBeVisible()
  await reported

  // Cards that were on the screen count, and so does the dish that was opened and added.
  const { branchId, bizDate } = (await server.staff<{ items: { id: string; bizDate: string }[] }>('GET', '/api/branches')).items
    .map((b) => ({ branchId: b.id, bizDate: b.bizDate }))[0] ?? { branchId: '', bizDate: '' }
  const query = `?branchId=${branchId}&from=${bizDate}&to=${bizDate}&locale=en`
  const interest = () => server.staff<Interest>('GET', `/api/reports/views${query}`)
  await expect.poll(async () => (await interest()).items.find((d) => d.name === name)?.added, { timeout: 20_000 }).toBe(1)
  const { items, totals } = await interest()
  const dish = items.find((d) => d.name === name)
  expect(dish?.orders).toBe(1)
  expect(dish?.viewed).toBeGreaterThan(0)
  expect(items.filter((d) => d.viewed > 0).length).toBeGreaterThan(1)
  expect(totals.menuPages).toBeGreaterThan(0)
  expect(totals.cartPages).toBe(1)

  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager', 'reports/views')
  await expect(page.getByRole('row').filter({ has: page.getByRole('cell', { name, exact: true }) })).toContainText(String(dish?.viewed))
  await checkAccessibility(page, 'report of interest')
  await page.getByRole('tab', { name: 'Abandoned carts' }).click()
  await expect(page.getByRole('term').filter({ hasText: 'Tables with a cart' })).toBeVisible()
  await checkAccessibility(page, 'report of carts')
})

test('a member sees and deletes their own history', async ({ page, server }) => {
  await join(server, 'lan@views.example')
  await join(server, 'minh@views.example')
  await logIn(page, server, 'lan@views.example')
  const name = (await page.getByRole('article').nth(1).getByRole('link').textContent())?.trim() ?? ''
  const seen = page.getByRole('region', { name: 'Seen recently' })
  await expect(page.getByRole('article').first()).toBeVisible()
  await expect(seen).toHaveCount(0)
  const reported = report(page, '/me/views')
  await page.getByRole('link', { name, exact: true }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await reported

  await page.reload()
  await expect(seen.getByRole('link', { name })).toBeVisible()
  await checkAccessibility(page, 'a history of dishes')
  const { accessToken } = await post<{ accessToken: string }>(server, '/auth/login', { email: 'minh@views.example', password: memberPassword })
  const other = await fetch(`${server.url}/me/dishes`, { headers: { Authorization: `Bearer ${accessToken}` } })
  expect(await other.json()).toMatchObject({ seen: [], usual: [] })

  await page.getByRole('button', { name: 'Delete this history' }).click()
  await expect(page.getByText('Your history was deleted.').last()).toBeVisible()
  await expect(seen).toHaveCount(0)
  await page.reload()
  await expect(page.getByRole('article').first()).toBeVisible()
  await expect(seen).toHaveCount(0)
})
