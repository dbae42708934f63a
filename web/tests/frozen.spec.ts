import { add, expect, sitDown, test } from './fixtures'
import { setFrozen, shortenLimits } from './frozen'
import { enter, order, sizes, tablet } from './staff'

// A frozen server accepts connections and answers nothing; a killed one has lost what it had not stored. In both cases the
// screens continue by themselves, and what a person has pressed once happens once.

// The tests count the requests of the page, which a service worker would send itself.
test.use({ serviceWorkers: 'block' })

test('an order and its payment happen once when the server was frozen', async ({ page, another }) => {
  const server = await another()
  await page.setViewportSize(sizes.phone)
  await shortenLimits(page)
  await sitDown(page, server, 'A1')
  await add(page, 'Beef pho')
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('radio', { name: /Test payment/ }).check()

  // The server receives the order several times, and executes all of it when it continues.
  server.pause()
  await setFrozen(page, true)
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByText('send your order as soon as you’re back online')).toBeVisible()
  await setFrozen(page, false)
  server.resume()
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible({ timeout: 20_000 })

  server.pause()
  await setFrozen(page, true)
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('alert')).toContainText('reach the restaurant right now')
  await setFrozen(page, false)
  server.resume()
  // The frozen server has received the payment, or the guest presses again.
  const paid = page.getByRole('heading', { name: 'Payment received' })
  const pay = page.getByRole('button', { name: 'Make a test payment' })
  await expect(async () => {
    if (await pay.isVisible()) await pay.click({ timeout: 1000 })
    await expect(paid).toBeVisible({ timeout: 2000 })
  }).toPass({ timeout: 20_000 })
  const { items } = await server.staff<{ items: { paymentStatus: string; refundedAmount: number }[] }>('GET', '/api/orders?branchId=1')
  expect(items.map((o) => o.paymentStatus)).toEqual(['PAID'])
})

test('an order that a killed server had received is placed once', async ({ page, another }) => {
  const server = await another()
  await page.setViewportSize(sizes.phone)
  await sitDown(page, server, 'A2')
  await add(page, 'Beef pho')
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('radio', { name: /Pay at the counter/ }).check()
  server.pause()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByText('Sending your order…')).toBeVisible()
  await server.stop('SIGKILL')
  await expect(page.getByText('send your order as soon as you’re back online')).toBeVisible()
  await server.start()
  await expect(page.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible({ timeout: 20_000 })
  const { items } = await server.staff<{ items: unknown[] }>('GET', '/api/orders?branchId=1')
  expect(items).toHaveLength(1)
})

test('a cook’s press counts once when the server was frozen or killed', async ({ page, another }) => {
  const server = await another()
  await page.setViewportSize(tablet)
  await shortenLimits(page)
  const o = await order(server, 'A3', 'SANDBOX')
  await enter(page, server, 'kitchen', 'board')
  const ticket = page.getByRole('article', { name: o.number })
  await expect(ticket.getByRole('button', { name: /Start/ })).toBeVisible()
  await page.evaluate(() => Object.assign(window, { same: true }))

  server.pause()
  await setFrozen(page, true)
  await ticket.getByRole('button', { name: /Start/ }).click()
  await expect(page.getByText('Can’t reach the server').first()).toBeVisible()
  await setFrozen(page, false)
  server.resume()
  const ready = ticket.getByRole('button', { name: /Ready/ })
  const start = ticket.getByRole('button', { name: /Start/ })
  await expect(async () => {
    if (await start.isVisible()) await start.click({ timeout: 1000 })
    await expect(ready).toBeVisible({ timeout: 2000 })
  }).toPass({ timeout: 20_000 })

  server.pause()
  await ready.click()
  await server.stop('SIGKILL')
  await expect(page.getByText('Can’t reach the server').first()).toBeVisible()
  await server.start()
  const served = page.getByRole('article', { name: o.number }).getByRole('button', { name: /Served/ })
  await expect(async () => {
    if (await ready.isVisible()) await ready.click({ timeout: 1000 })
    await expect(served).toBeVisible({ timeout: 2000 })
  }).toPass({ timeout: 20_000 })
  expect(await page.evaluate(() => (window as unknown as { same?: boolean }).same)).toBe(true)
  const { status } = await server.staff<{ status: string }>('GET', `/api/orders/${o.id}`)
  expect(status).toBe('READY')
})
