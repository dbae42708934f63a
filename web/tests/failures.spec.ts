import { pageViolations } from './accessibility'
import { add, expect, orderCart, sitDown, test } from './fixtures'
import { enter, sizes } from './staff'

// The test cannot lose requests of a page that a service worker controls.
test.use({ serviceWorkers: 'block' })

test('nothing is lost when the server stops for a while', async ({ page, another }) => {
  const server = await another()
  await sitDown(page, server, 'A3')
  await add(page, 'Bun cha')
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await server.stop()
  await expect(page.getByText('No connection to the restaurant')).toBeVisible()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByText('send your order as soon as you’re back online')).toBeVisible()
  await server.start()
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible({ timeout: 20_000 })

  // The server stops again while a payment is pending.
  await server.stop()
  await expect(page.getByText('No connection to the restaurant')).toBeVisible()
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('alert')).toContainText('reach the restaurant right now')
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible()
  await server.start()
  await expect(page.getByText('No connection to the restaurant')).toHaveCount(0, { timeout: 20_000 })
  await expect(page.getByText('reach the restaurant right now')).toHaveCount(0) // the outage is over
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  await page.getByRole('link', { name: 'Your table’s orders' }).last().click()
  await expect(page.getByRole('article')).toHaveCount(1)
})

test('an order whose answer was lost is placed once', async ({ page, server }) => {
  await sitDown(page, server, 'A4')
  await add(page, 'Rolled pho')
  await page.getByRole('link', { name: /View cart/ }).click()
  let lost = 0
  await page.route('**/cis/order/create', async (route) => {
    if (lost++ > 0) return route.continue()
    await route.fetch() // the server receives the order, but the phone gets no answer
    return route.abort()
  })
  await page.getByRole('radio', { name: /Pay at the counter/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  expect(lost).toBe(2)
  await page.getByRole('link', { name: 'Your table’s orders' }).last().click()
  await expect(page.getByRole('article')).toHaveCount(1)
})

test('if too few units are left, the app offers the remaining ones', async ({ page, server }) => {
  await server.quota('18', 3)
  await sitDown(page, server, 'A2')
  await page.getByRole('link', { name: 'Young green rice sweet soup', exact: true }).click()
  const more = page.getByRole('dialog').getByRole('button', { name: /One more/ })
  await more.click()
  await more.click()
  await expect(more).toBeDisabled() // no more than are left
  await page.getByRole('dialog').getByRole('button', { name: /^Add/ }).click()
  await page.getByRole('link', { name: /View cart/ }).click()
  await server.quota('18', 2)
  await page.getByRole('button', { name: 'Change to 2' }).click()
  await page.getByRole('button', { name: /Order and pay · ₫60,000/ }).click()
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible()
})

test('an order whose answer was lost is placed once after a reload', async ({ page, server }) => {
  await sitDown(page, server, 'A5')
  await add(page, 'Rolled pho')
  await page.getByRole('link', { name: /View cart/ }).click()
  let sent = 0
  await page.route('**/cis/order/create', async (route) => {
    if (sent++ === 0) await route.fetch() // the server receives the order, but the phone gets no answer
    return route.abort()
  })
  await page.getByRole('radio', { name: /Pay at the counter/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByText('send your order as soon as you’re back online')).toBeVisible()
  // Only its own button stops a request that is being sent.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'Stop trying' })).toBeVisible()

  await page.unroute('**/cis/order/create')
  await page.goto(`${server.url}/app/checkout`) // the address of the former checkout
  await expect(page).toHaveURL(/\/app\/order\/cart$/)
  await page.getByRole('dialog').getByRole('radio', { name: /Pay at the counter/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  await page.getByRole('link', { name: 'Your table’s orders' }).last().click()
  await expect(page.getByRole('article')).toHaveCount(1)
})

test('the guest is asked about a changed price', async ({ page, server }) => {
  await sitDown(page, server, 'B1')
  await add(page, 'Dong Ding oolong')
  await page.getByRole('link', { name: /View cart/ }).click()
  await server.price('2', '35', 95)
  await expect(page.getByRole('alert').filter({ hasText: 'The menu just changed' })).toBeVisible()
  await page.getByRole('button', { name: 'Order and pay · NT$95' }).click()
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible()
})

test('invalid codes are explained, and broken storage does not break the page', async ({ page, server }) => {
  const lost = await page.goto(`${server.url}/nope`)
  expect(lost?.status()).toBe(404)
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  await expect(page).toHaveTitle('Page not found')
  await page.getByRole('link', { name: 'Go to the start page' }).click()
  await expect(page.getByRole('heading', { name: 'Opening hours and menus' })).toBeVisible()
  await page.goto(`${server.url}/m/nobodys-code-at-all-00`)
  await expect(page.getByRole('heading', { name: 'This QR code isn’t valid' })).toBeVisible()
  await page.evaluate(() => {
    localStorage.setItem('comanda.visit', 'v1')
    localStorage.setItem('comanda.visit.v1', '{"schemaVersion":1,"cartDraft":7}')
  })
  await page.goto(`${server.url}/app/order`)
  await expect(page.getByRole('heading', { name: 'Scan the code on your table' })).toBeVisible()
  await page.getByRole('button', { name: 'Start over on this phone' }).click()
  expect(await page.evaluate(() => localStorage.length)).toBe(0)
})

test('the scan of another table offers the old cart once', async ({ page, context, server }) => {
  await sitDown(page, server, 'B3')
  await add(page, 'Pearl milk tea')
  const second = await context.newPage()
  await sitDown(second, server, 'B4')
  await expect(page.getByRole('heading', { name: 'You’ve moved to another table' })).toBeVisible()
  await expect(second.getByText('Move the item in your cart')).toBeVisible()
  await second.getByRole('button', { name: 'Yes, move' }).click()
  await expect(second.getByRole('link', { name: /View cart · 1 item/ })).toBeVisible()
  await page.getByRole('button', { name: 'Continue at the new table' }).click()
  await expect(page.getByText('Table B4', { exact: true })).toBeVisible()
  await expect(page.getByRole('link', { name: /View cart · 1 item/ })).toBeVisible()
})

test('a phone shows the table to which staff have moved its guests', async ({ page, server }) => {
  await sitDown(page, server, 'B5')
  await expect(page.getByText('Table B5', { exact: true })).toBeVisible()
  const { items } = await server.staff<{ items: { id: string; tableLabel: string }[] }>('GET', '/api/visits?branchId=2&status=OPEN')
  const visit = items.find((v) => v.tableLabel === 'B5')
  await server.staff('POST', `/api/visits/${visit?.id ?? ''}/move`, { tableId: (await server.table('B2')).id })
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))) // the phone is taken from a pocket
  await expect(page.getByText('Table B2', { exact: true })).toBeVisible()
  await page.reload()
  await expect(page.getByText('Table B2', { exact: true })).toBeVisible()
  await add(page, 'Mango shaved ice')
  await orderCart(page)
  await server.staff('POST', `/api/visits/${visit?.id ?? ''}/move`, { tableId: (await server.table('B5')).id })
  await page.goto(`${server.url}/app/visit`)
  await expect(page.getByText(/ · Table B5$/)).toBeVisible()
})

test('a visit closed by staff shows the closed page with the orders', async ({ page, server }) => {
  await sitDown(page, server, 'B6')
  await add(page, 'Mango shaved ice')
  const { items } = await server.staff<{ items: { id: string; tableLabel: string }[] }>('GET', '/api/visits?branchId=2&status=OPEN')
  const visit = items.find((v) => v.tableLabel === 'B6')
  await server.staff('POST', `/api/visits/${visit?.id ?? ''}/close`)
  await expect(page.getByRole('heading', { name: 'Your table has been closed' })).toBeVisible()
  await page.goto((await server.table('B6')).link)
  await expect(page.getByRole('heading', { name: 'Our staff have closed your table' })).toBeVisible()
  await page.getByRole('link', { name: 'Your table’s orders' }).last().click()
  await expect(page.getByText('You haven’t ordered anything yet.')).toBeVisible()
  await sitDown(page, server, 'B1')
  await expect(page.getByText('Move the item in your cart')).toBeVisible()
})

test('VNPay’s page returns to the order, and in another browser to a page with further links', async ({ page, browser, server }) => {
  await sitDown(page, server, 'A5')
  await add(page, 'Beef pho')
  await orderCart(page, /VNPay/)
  await page.waitForURL(/\/sim\/vnpay/)
  const returned = page.waitForRequest(/\/pay\/[^/]+$/)
  await page.getByRole('button').first().click()
  const address = (await returned).url()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  await expect(page).toHaveURL(/\/app\/orders\//)

  const other = await (await browser.newContext({ locale: 'vi' })).newPage()
  await other.goto(address)
  await expect(other.getByRole('heading', { name: 'Đã thanh toán' })).toBeVisible()
  await expect(other.getByRole('link', { name: 'Về trang chủ' })).toBeVisible()
  expect(await pageViolations(other)).toEqual([])
  await other.getByRole('link', { name: 'Xem đơn của bạn' }).click()
  await expect(other).toHaveURL(/\/app\/closed\/elsewhere/)
  await other.context().close()
})

test('tables whose answer was lost are not an error when the manager presses again', async ({ page, another }) => {
  const server = await another()
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager', 'tables')
  await page.getByRole('button', { name: 'Add tables' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add tables' })
  await dialog.getByLabel('Table names').fill('L1-L3')
  let requests = 0
  await page.route('**/tables/bulk', async (route) => {
    if (++requests > 1) return route.continue()
    await route.fetch() // the server has added them
    return route.abort()
  })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText(/No connection|Can’t reach the server/).first()).toBeVisible()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(page.getByRole('heading', { name: 'L3' })).toBeVisible()
  expect(requests).toBe(2)

  // Labels that were in use before are still refused.
  await page.getByRole('button', { name: 'Add tables' }).click()
  await dialog.getByLabel('Table names').fill('L3-L4')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('There’s already a table with this name.')).toBeVisible()
  await expect(dialog).toBeVisible()
})
