import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { deliver, enter, order, sizes, tablet } from './staff'

const lan = { name: 'Nguyễn Thị Lan', phone: '0901234567', address: '12 Hàng Bài, Hoàn Kiếm, Hà Nội' }
const note = 'Gate code 4711\nThird floor'

test('the address of a delivery is shown to couriers but not to cooks', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  const o = await deliver(server, { ...lan, note })
  await enter(page, server, 'staff', 'board')
  const ticket = page.getByRole('article', { name: o.number })
  await expect(ticket).toContainText(lan.name)
  await expect(ticket).toContainText(lan.address)
  expect(await ticket.getByText('Note for the courier:').locator('..').innerText()).toContain(note)
  await expect(ticket.getByRole('link', { name: lan.phone })).toHaveAttribute('href', `tel:${lan.phone}`)
  await ticket.getByRole('link', { name: `Open order ${o.number}` }).click()
  await expect(page.getByRole('heading', { name: `Order ${o.number}` })).toBeVisible()
  await expect(page.getByText(lan.address)).toBeVisible()
  expect(await page.getByText('Gate code 4711').innerText()).toBe(note)
  await checkAccessibility(page, 'a delivery')
  await page.getByRole('button', { name: 'Log out', exact: true }).click()

  await enter(page, server, 'kitchen', 'board')
  await expect(ticket).toContainText('Delivery')
  await ticket.getByRole('link', { name: `Open order ${o.number}` }).click()
  await expect(page.getByRole('heading', { name: 'Delivery' })).toBeVisible()
  for (const withheld of [...Object.values(lan), 'Gate code', 'courier']) await expect(page.getByText(withheld)).toHaveCount(0)
})

test('an order is found by its receiver and refunded', async ({ page, server }) => {
  const o = await deliver(server, { ...lan, phone: '+84987000321', note })
  const at = await order(server, 'A4', 'SANDBOX')
  await enter(page, server, 'manager', 'orders')
  await expect(page.getByRole('link', { name: o.number, exact: true })).toBeVisible()
  await checkAccessibility(page, 'orders')
  const search = page.getByRole('searchbox', { name: 'Search orders' })
  for (const words of ['0987 000 321', '0321', 'lan nguyen', o.number]) {
    await search.fill(words)
    await expect(page).toHaveURL(`${server.url}/console/orders?search=${encodeURIComponent(words).replaceAll('%20', '+')}`)
    await expect(page.getByRole('link', { name: o.number, exact: true })).toBeVisible()
    if (words !== 'lan nguyen') await expect(page.getByRole('main').getByRole('listitem')).toHaveCount(1)
  }
  await search.fill('nobody of this name')
  await expect(page.getByText('No orders found.')).toBeVisible()
  await search.fill(o.number)
  await page.getByRole('link', { name: o.number, exact: true }).click()
  await page.getByRole('button', { name: 'Refund' }).click()
  await page.getByLabel('Reason').fill('cold')
  await page.getByRole('dialog').getByRole('button', { name: 'Refund' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.emulateMedia({ media: 'print' }) // the printed page has the order without buttons
  await expect(page.getByText(lan.address)).toBeVisible()
  await expect(page.getByText('Gate code 4711')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Print' })).toBeHidden()
  await expect(page.getByRole('banner')).toBeHidden()
  await page.emulateMedia({ media: 'screen' })
  await page.goBack()
  await expect(search).toHaveValue(o.number)

  await page.goto(`${server.url}/console/tables`)
  await page.getByRole('article', { name: 'Table A4', exact: true }).getByRole('link', { name: '1 order' }).click()
  await expect(page.getByText('Orders of the guests at table A4')).toBeVisible()
  await expect(page.getByRole('main').getByRole('listitem')).toHaveCount(1)
  await expect(page.getByRole('link', { name: at.number, exact: true })).toBeVisible()
})

test('an order that expired while the guest queued is accepted anyway', async ({ page, another }) => {
  const server = await another({ COMANDA_COUNTER_WINDOW: '1s', COMANDA_EXPIRY_GRACE: '0s' })
  const o = await order(server, 'A1', 'COUNTER')
  await enter(page, server, 'cashier', 'counter')
  await page.getByRole('button', { name: 'Timed out today: 1' }).click()
  await checkAccessibility(page, 'timed out at the counter')
  await page.getByRole('searchbox', { name: 'Number, table or name' }).fill('no such order')
  await expect(page.getByRole('button', { name: 'Accept anyway' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Clear Number, table or name' }).click()
  await page.getByRole('button', { name: 'Timed out today: 1' }).click({ trial: true })
  await page.getByRole('button', { name: 'Accept anyway' }).click()
  const dialog = page.getByRole('dialog', { name: 'Accept anyway' })
  await expect(dialog).toContainText('if a dish has sold out')
  await dialog.getByLabel('Cash received').fill('500000')
  await checkAccessibility(page, 'accepting late')
  await dialog.getByRole('button', { name: 'Accept order' }).click()
  await expect(page.getByText(`Order ${o.number} is paid.`)).toBeVisible()
  await expect(page.getByRole('button', { name: /Timed out today/ })).toHaveCount(0)
  await page.goto(`${server.url}/console/orders/${o.id}`)
  await expect(page.getByText('Paid', { exact: true }).first()).toBeVisible()
  await expect(page.getByText('Cancelled', { exact: true })).toBeVisible() // the history still shows it
})

test('a screen opened during an outage recovers by itself', async ({ page, another }) => {
  const server = await another()
  await page.setViewportSize(tablet)
  await enter(page, server, 'kitchen', 'board')
  await page.evaluate(async () => navigator.serviceWorker.ready)
  await page.reload()
  const board = page.getByText('No tickets')
  await board.click({ trial: true }) // the navigation does not cover it
  await server.stop()
  await page.reload()
  await expect(page.getByText('Can’t reach the server.')).toBeVisible()
  await checkAccessibility(page, 'waiting for the server')
  await server.start()
  await expect(board).toBeVisible()
  await expect(page.getByText('No connection')).toHaveCount(0)
})

test('without a branch, every page shows what to do', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await page.route('**/api/branches', (route) => route.fulfill({ json: { items: [] } }))
  await enter(page, server, 'owner', 'board')
  for (const path of [
    'board', 'counter', 'orders', 'tables', 'tables/sheet', 'menus', 'stock', 'recipes', 'reservations', 'availability', 'payments', 'reports',
  ]) {
    await page.goto(`${server.url}/console/${path}`)
    await expect(page.getByRole('heading', { name: 'There is no restaurant yet' })).toBeVisible()
    await expect(page.getByText('Loading…')).toHaveCount(0)
  }
  await checkAccessibility(page, 'no branch')
  await page.goto(`${server.url}/console/dishes`)
  await page.getByRole('button', { name: 'New dish' }).click()
  await expect(page.getByRole('dialog')).toContainText('you don’t have a branch yet')
})

test('the question before an order is cancelled has no second button to cancel', async ({ page, server }) => {
  const o = await order(server, 'B4', 'COUNTER')
  await enter(page, server, 'owner', `orders/${o.id}`)
  await page.getByRole('button', { name: 'Cancel order' }).click()
  const dialog = page.getByRole('dialog', { name: `Cancel order ${o.number}?` })
  await expect(dialog.getByRole('button')).toHaveText(['Keep order', 'Cancel order'])
  await dialog.getByRole('button', { name: 'Keep order' }).click()
  await expect(dialog).toHaveCount(0)
  await page.getByRole('button', { name: 'Cancel order' }).click()
  await dialog.getByRole('button', { name: 'Cancel order' }).click()
  await expect(page.getByText('Order cancelled.')).toBeVisible()
})

test('the dialog of a table names it, and an empty section has nothing to clear', async ({ page, server }) => {
  await enter(page, server, 'owner', 'tables')
  await page.getByRole('button', { name: 'More actions for table A1' }).click()
  await page.getByText('Edit', { exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit table A1' })
  await expect(dialog.getByRole('combobox', { name: 'Section (optional)' })).toBeVisible()
  await expect(dialog.locator('.v-combobox .v-field--dirty')).toHaveCount(0)
})
