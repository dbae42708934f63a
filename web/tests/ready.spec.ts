import type { Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { add, expect, orderCart, sitDown, test } from './fixtures'
import { logIn } from './member'
import { deliver } from './staff'

declare global {
  interface Window {
    alerted: string[]
  }
}

/** Records a page's notifications and vibrations instead of showing them. */
async function record(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.alerted = []
    ServiceWorkerRegistration.prototype.showNotification = (title, options) => {
      window.alerted.push(`${title}: ${options?.body ?? ''}`)
      return Promise.resolve()
    }
    navigator.vibrate = () => window.alerted.push('vibration') > 0
  })
}

/** Asks for the alert on an order's page, and returns the order's id and number. */
async function askForAlert(page: Page): Promise<{ id: string; number: string }> {
  await page.getByRole('button', { name: 'Tell me when it’s ready' }).click()
  await expect(page.getByText('We’ll notify you when your order is ready.')).toBeVisible()
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  return { id, number: await page.locator('main .number').innerText() }
}

test.beforeEach(async ({ context, page }) => {
  await context.grantPermissions(['notifications'])
  await record(page)
})

test('a guest who goes back to the menu is notified once when the order is ready', async ({ page, server }) => {
  await sitDown(page, server, 'A3')
  await page.evaluate(async () => navigator.serviceWorker.ready)
  await add(page, 'Bun cha')
  await orderCart(page)
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  const { id, number } = await askForAlert(page)
  await page.getByRole('link', { name: 'Order more' }).click()
  await expect(page.getByRole('article').first()).toBeVisible()
  await page.reload() // the alert is kept
  await expect(page.getByRole('article').first()).toBeVisible()
  for (const step of ['start', 'ready']) await server.staff('POST', `/api/orders/${id}/${step}`)

  const notice = page.getByRole('status').getByRole('link', { name: `Order ${number} is ready` })
  await expect(notice).toBeVisible()
  await expect.poll(() => page.evaluate(() => window.alerted)).toEqual(['vibration', `Order ${number} is ready: We’re bringing it to your table.`])
  await checkAccessibility(page, 'the notice of a ready order')
  await notice.click()
  await expect(page.getByRole('heading', { name: 'Your order is ready' })).toBeVisible()
  await expect(notice).toHaveCount(0)
  await page.getByRole('link', { name: 'Your table’s orders' }).last().click()
  await expect(page.getByRole('article')).toHaveCount(1)
  expect(await page.evaluate(() => window.alerted)).toHaveLength(2)
  await page.reload()
  await expect(page.getByRole('article')).toHaveCount(1)
  expect(await page.evaluate(() => window.alerted)).toEqual([])
})

test('a member is notified on any page', async ({ page, server }) => {
  const placed = await deliver(server, { name: 'Nguyễn Lan', phone: '0901234567', address: '12 Hàng Bài, Hà Nội' })
  await logIn(page, server, placed.email, `/shop/orders/${placed.id}`)
  await page.evaluate(async () => navigator.serviceWorker.ready)
  const { id, number } = await askForAlert(page)
  await page.goto(`${server.url}/shop/account`)
  await expect(page.getByText(`Logged in as ${placed.email}`)).toBeVisible()
  for (const step of ['start', 'ready']) await server.staff('POST', `/api/orders/${id}/${step}`)
  const notice = page.getByRole('status').getByRole('link', { name: `Order ${number} is ready` })
  await expect(notice).toBeVisible()
  await expect.poll(() => page.evaluate(() => window.alerted)).toEqual(['vibration', `Order ${number} is ready: We’re bringing it to your address.`])
  await page.getByRole('status').getByRole('button', { name: 'Close' }).click()
  await expect(notice).toHaveCount(0)
})

test('a tap on a notification opens the order in the tab that is open', async ({ page, context, server }) => {
  await sitDown(page, server, 'A6')
  await page.evaluate(async () => navigator.serviceWorker.ready)
  await add(page, 'Bun cha')
  await orderCart(page)
  const order = new URL(page.url()).pathname
  await page.getByRole('link', { name: 'Order more' }).click()
  await expect(page.getByRole('article').first()).toBeVisible()
  await page.evaluate(() => Object.assign(window, { same: true }))
  const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker')
  // Browsers do not let tests tap a notification. The event lacks the right to focus a window, which only a real tap has.
  await worker.evaluate(async (data) => {
    const scope = globalThis as unknown as { registration: ServiceWorkerRegistration; dispatchEvent: (e: Event) => boolean }
    await scope.registration.showNotification('Order ready', { data })
    const [notification] = await scope.registration.getNotifications()
    const event = Object.assign(new Event('notificationclick'), {
      notification, waitUntil: (shown: Promise<unknown>) => void shown.catch(() => undefined),
    })
    scope.dispatchEvent(event)
  }, order)
  await expect(page).toHaveURL(new RegExp(`${order}$`))
  expect(context.pages()).toHaveLength(1)
  expect(await page.evaluate(() => (window as unknown as { same?: boolean }).same)).toBe(true)
})
