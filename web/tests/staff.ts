import type { Page } from '@playwright/test'

import { expect } from './fixtures'
import { join, password as memberPassword } from './member'
import { password, type Server } from './server'

/** Logs in as one of the demo's accounts. */
export async function enter(page: Page, server: Server, name: string, to = ''): Promise<void> {
  await page.goto(`${server.url}/console/${to}`)
  await page.getByLabel('E-mail or username').fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page).not.toHaveURL(/login/)
}

/** The account that setUp creates. */
export const owner = 'hoa@quanhoa.vn'

/** Sets a new server up without a browser: an owner, and a restaurant with two tables and a published menu of a template. */
export async function setUp(server: Server): Promise<{ branchId: string }> {
  const made = await setUpTables(server)
  await server.staff('POST', `/api/branches/${made.branchId}/menu/templates`, { name: 'bubble-tea', publish: true })
  return made
}

/** Is setUp with a menu of some dishes without options, all at one price. */
export async function setUpPlain(server: Server, dishes: string[], price: number): Promise<void> {
  const { branchId } = await setUpTables(server)
  const { id: categoryId } = await server.staff<{ id: string }>('POST', '/api/categories', { names: { en: 'Tea', vi: 'Trà' } })
  const menu = await server.staff<{ id: string }>('POST', '/api/menus', { branchId, name: 'Menu' })
  const draft = await server.staff<{ id: string }>('POST', `/api/menus/${menu.id}/versions`, {})
  for (const name of dishes) {
    const { id: dishId } = await server.staff<{ id: string }>('POST', '/api/dishes', { categoryId, names: { en: name } })
    await server.staff('POST', `/api/menu-versions/${draft.id}/items`, { dishId, price, dailyQuota: null, isActive: true })
  }
  await server.staff('POST', `/api/menu-versions/${draft.id}/publish`)
}

/** Sets up an owner, and a restaurant with two tables and no menu. */
export async function setUpTables(server: Server): Promise<{ branchId: string }> {
  await post(server, '/auth/setup', { code: new URL(server.setupLink).hash.slice(1), email: owner, password })
  const { id } = await server.staff<{ id: string }>('POST', '/api/branches', { name: 'Quán Hoa', country: 'VN', locales: ['vi', 'en'] })
  await server.staff('POST', `/api/branches/${id}/tables/bulk`, { labels: 'A1-A2', seats: 4 })
  return { branchId: id }
}

interface Ordered {
  id: string
  number: string
  totalPrice: number
  payment: { redirectUrl: string | null }
  visitId: string
  token: string
}

/** Orders two dishes at a table like a guest's phone. */
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

let members = 0

/** Creates a member who orders a delivery and pays, without a browser. */
export async function deliver(server: Server, receiver: { name: string; phone: string; address: string; note?: string }): Promise<Ordered & { email: string }> {
  const email = `delivery.${String(++members)}@house.example`
  await join(server, email)
  const { accessToken } = await post<{ accessToken: string }>(server, '/auth/login', { email, password: memberPassword })
  await post(server, '/cart/add-dish', { dishId: '5', quantity: 1 }, accessToken)
  const placed = await post<Ordered & { orderId: string }>(server, '/cart/checkout', {
    receiverName: receiver.name, receiverPhone: receiver.phone, receiverAddress: receiver.address,
    ...(receiver.note ? { receiverNote: receiver.note } : {}), paymentMethod: 'SANDBOX',
    clientTxnId: `t-${receiver.phone}-${String(Math.random())}`,
  }, accessToken)
  await post(server, '/cis/payments/mock-callback', { orderId: placed.orderId, method: 'SANDBOX', result: 'SUCCESS' })
  return { ...placed, id: placed.orderId, email }
}

/** Sends a request with a JSON body, as the caller with this token if given. */
export async function post<T>(server: Server, path: string, body: unknown, token = ''): Promise<T> {
  const response = await fetch(server.url + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${String(response.status)} ${text}`)
  return JSON.parse(text) as T
}

/** Orders and pays on the page of a gateway's simulator, which makes the given faults from then on. */
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

/** Sets the faults that a gateway's simulator makes, and clears all others. */
export async function faulty(server: Server, gateway: 'vnpay' | 'linepay', faults: object): Promise<void> {
  const response = await fetch(`${server.url}/sim/${gateway}/control`, {
    method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ faults }),
  })
  if (!response.ok) throw new Error(`${gateway}: ${await response.text()}`)
}

/** Sends a request like a guest's phone. */
export async function guest<T>(server: Server, path: string, body: unknown, token = ''): Promise<T> {
  const response = await fetch(server.url + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json', ...(token ? { 'X-Customer-Token': token } : {}) },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${String(response.status)} ${text}`)
  return JSON.parse(text) as T
}

export const tablet = { width: 1024, height: 768 }
export const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } }
