import type { Locator, Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { add, expect, sitDown, test } from './fixtures'
import type { Server } from './server'
import { enter, sizes } from './staff'

/** One phone sees the other one's change within a second. */
const soon = { timeout: 1000 }

const share = (server: Server, sharedCart: boolean) => server.staff('PATCH', '/api/branches/1', { sharedCart })
const cartOf = (phone: Page): Locator => phone.getByRole('dialog', { name: 'Your table’s cart' })
const lines = (phone: Page, guest: string): Locator => cartOf(phone).getByRole('region', { name: guest }).getByRole('listitem')
const openCart = (phone: Page, items: string) => phone.getByRole('link', { name: new RegExp(`View cart · ${items}`) }).click()

test('two phones fill the cart of their table, and one orders everything', async ({ page: an, browser, another }) => {
  const server = await another()
  await share(server, true)
  const binh = await (await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'en' })).newPage()
  await sitDown(an, server, 'A1')
  await sitDown(binh, server, 'A1')
  await add(an, 'Beef pho', 'no onion')
  await expect(binh.getByRole('link', { name: /View cart · 1 item/ })).toBeVisible(soon)
  await add(binh, 'Chicken pho')
  await openCart(an, '2 items')
  await openCart(binh, '2 items')
  await expect(lines(an, 'You')).toContainText('Beef pho')
  await expect(lines(an, 'Guest 2')).toContainText('Chicken pho')
  await expect(lines(binh, 'You')).toContainText('Chicken pho')
  await expect(lines(binh, 'Guest 1')).toContainText('Note: no onion')

  // Each phone changes the other one's line, and both see it.
  await lines(binh, 'Guest 1').getByRole('button', { name: 'One more: Beef pho' }).click()
  await expect(lines(an, 'You').getByRole('group')).toContainText('2', soon)
  await checkAccessibility(an, 'the cart of a table')

  // The guest orders only their own dishes, or everything.
  await cartOf(an).getByRole('radio', { name: 'Only mine' }).check()
  await expect(cartOf(an).getByText('not in this order')).toBeVisible()
  await checkAccessibility(an, 'the guest’s own part of the cart')
  await cartOf(an).getByRole('radio', { name: 'Everything' }).check()
  await cartOf(an).getByRole('radio', { name: /Pay at the counter/ }).check()
  await an.getByRole('button', { name: /Order and pay/ }).click()
  await expect(an.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  await expect(an.getByRole('listitem').filter({ hasText: 'Chicken pho' })).toBeVisible()
  await expect(cartOf(binh).getByText('Your cart is empty.')).toBeVisible(soon)
  await binh.context().close()
})

test('an offline phone sends its dishes later, and has its own cart if the branch shares none', async ({ page: an, browser, another }) => {
  const server = await another()
  const binh = await (await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'en' })).newPage()
  await sitDown(an, server, 'A2')
  await sitDown(binh, server, 'A2')
  await add(binh, 'Chicken pho')
  await expect(an.getByRole('link', { name: /View cart/ })).toHaveCount(0)
  // The owner enables the shared cart while the guests are at the table.
  const desk = await (await browser.newContext({ viewport: sizes.desktop, locale: 'en' })).newPage()
  await enter(desk, server, 'owner', 'branches')
  await desk.getByRole('button', { name: /Edit/ }).first().click()
  await desk.getByRole('dialog').getByLabel('One cart per table').check()
  await desk.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(desk.getByRole('dialog')).toHaveCount(0)
  await expect(an.getByRole('link', { name: /View cart · 1 item/ })).toBeVisible()

  await an.context().setOffline(true)
  await an.getByRole('button', { name: 'Add to cart: Beef pho' }).click()
  await expect(an.getByRole('link', { name: /View cart · 2 items/ })).toBeVisible()
  await an.context().setOffline(false)
  await expect(binh.getByRole('link', { name: /View cart · 2 items/ })).toBeVisible()

  await share(server, false)
  await expect(an.getByRole('link', { name: /View cart · 1 item/ })).toBeVisible()
  await openCart(an, '1 item')
  await expect(an.getByRole('dialog', { name: 'Your cart' }).getByRole('listitem')).toContainText('Beef pho')
  await binh.context().close()
  await desk.context().close()
})
