import { checkAccessibility } from './accessibility'
import { add, expect, orderCart, sitDown, test } from './fixtures'
import { logIn } from './member'
import { deliver } from './staff'

test('a member reads a notice on one device, and the bell of another one follows', async ({ page, browser, server }) => {
  const placed = await deliver(server, { name: 'Nguyễn Lan', phone: '0901234567', address: '12 Hàng Bài, Hà Nội' })
  await logIn(page, server, placed.email)
  const laptop = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'vi' })).newPage()
  await laptop.goto(`${server.url}/shop/login`)
  await laptop.getByLabel(/E-mail|Email/).fill(placed.email)
  await laptop.locator('input[type=password]').fill('seven pots of pho')
  await laptop.locator('button[type=submit]').click()
  for (const step of ['start', 'ready']) await server.staff('POST', `/api/orders/${placed.id}/${step}`)

  const bell = page.getByRole('button', { name: '2 new notifications' }) // paid and ready
  await expect(bell).toBeVisible()
  await expect(laptop.getByRole('button', { name: '2 thông báo mới' })).toBeVisible()
  await bell.click()
  const dialog = page.getByRole('dialog', { name: 'Notifications' })
  await expect(dialog.getByRole('button', { name: /is ready/ })).toBeVisible()
  await checkAccessibility(page, 'the list of notices')
  await dialog.getByText('Choose your notifications').click()
  await expect(dialog.getByRole('group', { name: 'Order ready' })).toBeVisible()

  await dialog.getByRole('button', { name: 'Mark all as read' }).click()
  await expect(laptop.getByRole('button', { name: 'Thông báo', exact: true })).toBeVisible()
  await dialog.getByRole('button', { name: 'Close', exact: true }).click()

  await server.staff('POST', `/api/orders/${placed.id}/refunds`, { reason: 'cold' })
  await expect(page.getByRole('button', { name: '1 new notification', exact: true })).toBeVisible()
  await laptop.getByRole('button', { name: '1 thông báo mới' }).click()
  await laptop.getByRole('dialog').getByRole('button', { name: /hoàn tiền/ }).click()
  await expect(laptop).toHaveURL(new RegExp(`/shop/orders/${placed.id}$`))
  await expect(page.getByRole('button', { name: 'Notifications', exact: true })).toBeVisible()
  await laptop.context().close()
})

test('the guests of a table get notices of its orders, and turn off a kind', async ({ page, server }) => {
  await sitDown(page, server, 'A3')
  await add(page, 'Bun cha')
  await orderCart(page)
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  await page.getByRole('link', { name: 'Order more' }).click()
  for (const step of ['start', 'ready']) await server.staff('POST', `/api/orders/${id}/${step}`)
  const bell = page.getByRole('button', { name: /new notification/ }) // one or two: the payment may have been seen on the order's page
  await expect(bell).toBeVisible()
  await bell.click()
  const dialog = page.getByRole('dialog', { name: 'Notifications' })
  await expect(dialog.getByRole('button', { name: /is paid/ })).toBeVisible()
  await expect(dialog.getByRole('button', { name: /is ready/ })).toBeVisible()
  await dialog.getByText('Choose your notifications').click()
  for (const kind of ['Order paid', 'Order ready']) await dialog.getByRole('group', { name: kind }).getByLabel('In this list').uncheck()
  await expect(dialog.getByText('Nothing yet.')).toBeVisible()
  await page.reload()
  await expect(page.getByRole('button', { name: 'Notifications', exact: true })).toBeVisible()
})

test('a message of a push service becomes a notification in its language while no page is open', async ({ page, context, server }) => {
  await sitDown(page, server, 'A4')
  await page.evaluate(async () => navigator.serviceWorker.ready)
  const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker')
  await context.grantPermissions(['notifications'])
  // There is no push service in a test, so the worker gets the event itself.
  const shown = await worker.evaluate(async () => {
    const scope = globalThis as unknown as { registration: ServiceWorkerRegistration; dispatchEvent: (e: Event) => boolean }
    const said: unknown[] = []
    // TypeScript's library does not know the property renotify.
    scope.registration.showNotification = (title, options?: NotificationOptions & { renotify?: boolean }) => {
      said.push([title, options?.tag, options?.data, options?.renotify])
      return Promise.resolve()
    }
    for (const locale of ['en', 'vi', 'zh-Hant', 'xx']) {
      const notice = { kind: 'ORDER_READY', number: 'A-012', order: 'o1', url: '/app/orders/o1', locale }
      const waiting: Promise<unknown>[] = []
      scope.dispatchEvent(Object.assign(new Event('push'), {
        data: { json: () => notice }, waitUntil: (done: Promise<unknown>) => waiting.push(done),
      }))
      await Promise.all(waiting)
    }
    return said
  })
  const titles = ['Order A-012 is ready', 'Đơn A-012 đã sẵn sàng', '訂單 A-012 的餐點已準備好', 'Order A-012 is ready']
  expect(shown).toEqual(titles.map((title) => [title, 'o1', '/app/orders/o1', true]))
})
