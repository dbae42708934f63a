import type { Page } from '@playwright/test'

import { add, expect, sitDown, test } from './fixtures'
import { Server } from './server'
import { enter, sizes } from './staff'
import { stores } from './stores'

/** A change made at one process is visible at the other one within a second. */
const soon = { timeout: 1000 }

/** Two processes of one restaurant on PostgreSQL and Redis: guests use the first one, staff the second one. */
async function twoProcesses(work: (guests: Server, staff: Server) => Promise<void>): Promise<void> {
  const shared = await stores()
  const guests = new Server(shared.settings)
  const staff = new Server(shared.settings)
  try {
    await guests.start()
    await staff.start()
    await work(guests, staff)
  } finally {
    await guests.remove()
    await staff.remove()
    await shared.remove()
  }
}

/** Orders the cart, to be paid at the counter, and returns the order's number. */
async function orderAtCounter(phone: Page): Promise<string> {
  await phone.getByRole('link', { name: /View cart/ }).click()
  await phone.getByRole('radio', { name: /Pay at the counter/ }).check()
  await phone.getByRole('button', { name: /Order and pay/ }).click()
  await expect(phone.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  return (await phone.getByText(/^[A-Z]+-\d{3}$/).first().textContent()) ?? ''
}

test('guest and kitchen on two processes', async ({ page, browser }) => {
  test.setTimeout(240_000)
  await twoProcesses(async (guests, staff) => {
    const phone = page
    await sitDown(phone, guests, 'A1')
    await add(phone, 'Beef pho', 'no onion')
    await add(phone, 'Chicken pho')

    // The kitchen 86es a dish that is in the guest's cart.
    const tablet = await (await browser.newContext({ viewport: sizes.desktop, locale: 'en' })).newPage()
    await enter(tablet, staff, 'kitchen', 'availability')
    await tablet.getByRole('button', { name: '86 Chicken pho', exact: true }).click()
    await tablet.getByRole('dialog').getByRole('button', { name: '86 it' }).click()
    await expect(phone.getByRole('alert')).toContainText('“Chicken pho” just sold out', soon)
    await tablet.getByRole('button', { name: 'Put Chicken pho back on sale', exact: true }).click()
    const card = phone.getByRole('article').filter({ has: phone.getByRole('link', { name: 'Chicken pho', exact: true }) })
    await expect(card).not.toContainText('Sold out', soon)

    // The guest orders, the cashier takes the money, the kitchen sees the ticket.
    const number = await orderAtCounter(phone)
    const till = await (await browser.newContext({ viewport: sizes.phone, locale: 'en' })).newPage()
    await enter(till, staff, 'cashier', 'counter')
    await tablet.goto(`${staff.url}/console/board`)
    await expect(tablet.getByText('No tickets')).toBeVisible()
    await till.getByRole('listitem').filter({ hasText: number }).getByRole('button', { name: 'Take cash' }).click()
    await till.getByRole('dialog').getByLabel('Cash received').fill('500000')
    await till.getByRole('dialog').getByRole('button', { name: 'Confirm payment' }).click()
    await expect(phone.getByRole('heading', { name: 'Payment received' })).toBeVisible(soon)
    const ticket = tablet.getByRole('article', { name: number })
    await expect(ticket).toContainText('no onion', soon)

    // The guest's phone shows the kitchen's steps, even when one is undone.
    const progress = phone.getByRole('list', { name: 'Order status' })
    await ticket.getByRole('button', { name: /Start/ }).click()
    await expect(progress).toContainText('Being prepared', soon)
    await expect(phone.getByRole('heading', { name: 'Your food is being prepared' })).toBeVisible()
    await expect(progress.getByRole('listitem')).toHaveCount(5) // none of them twice
    await expect(progress).toContainText('Up next: ready')
    await ticket.getByRole('button', { name: /Ready/ }).click()
    await expect(progress.getByRole('listitem').filter({ hasText: /^Ready/ })).toContainText(/\d:\d\d/, soon)
    await expect(phone.getByRole('heading', { name: 'Your order is ready' })).toBeVisible()
    await ticket.getByRole('button', { name: 'Undo' }).click()
    await expect(progress.getByRole('listitem').filter({ hasText: /^Ready/ })).toHaveCount(0, soon)

    // The guests' server stops and starts again, and the phone restores everything by itself.
    await guests.stop()
    await expect(phone.getByText('No connection to the restaurant').first()).toBeVisible()
    await ticket.getByRole('button', { name: /Ready/ }).click()
    await guests.start()
    await expect(progress.getByRole('listitem').filter({ hasText: /^Ready/ })).toContainText(/\d:\d\d/, { timeout: 20_000 })
    await tablet.context().close()
    await till.context().close()
  })
})
