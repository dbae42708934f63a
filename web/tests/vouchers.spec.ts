import { checkAccessibility } from './accessibility'
import { add, expect, sitDown, test } from './fixtures'
import { choose, join, logIn, receiver } from './member'
import { enter, sizes } from './staff'

// An owner creates a voucher for one order; the first guest gets it, the second learns that it is used up, and a member uses
// one that each member may use once.
test('a voucher takes its discount off the orders of guests and members', async ({ page: desk, browser, another }) => {
  test.setTimeout(180_000) // it checks four screens in three languages and two themes
  const server = await another()
  await server.staff('PUT', '/api/branches/1/pricing', {
    priceMode: 'INCLUSIVE', taxScope: 'BILL', taxRounding: 'HALF_UP', discountRounding: 'HALF_UP', rates: [], rules: [], serviceCharges: [],
    discounts: [{ code: 'TEN', names: { en: 'Pho week', vi: 'Tuần lễ phở' }, type: 'PERCENT', percent: '10' }],
  })
  await desk.setViewportSize(sizes.desktop)
  await enter(desk, server, 'owner', 'vouchers')
  await expect(desk.getByText('No vouchers yet.')).toBeVisible()
  const make = async (code: string, uses: string, once: boolean): Promise<void> => {
    await desk.getByRole('button', { name: 'New voucher' }).click()
    const dialog = desk.getByRole('dialog')
    await dialog.getByLabel('Code').fill(code)
    await dialog.locator('.v-select').click()
    await desk.getByRole('option', { name: 'Pho week · 10%' }).click()
    await dialog.getByLabel('Number of uses').fill(uses)
    if (once) await dialog.getByLabel('Once per member').check()
    else await checkAccessibility(desk, 'a new voucher')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(dialog).toHaveCount(0)
  }
  await make('Pho 2026', '1', false)
  await make('MEMBERS', '', true)
  const first = desk.getByRole('listitem').filter({ hasText: 'PH… · Pho week' })
  await expect(first).toContainText('0 of 1 used')

  const guest = async (table: string) => {
    const phone = await (await browser.newContext({ viewport: sizes.phone, locale: 'en' })).newPage()
    await sitDown(phone, server, table)
    await add(phone, 'Beef pho')
    await phone.getByRole('link', { name: /View cart/ }).click()
    const cart = phone.getByRole('dialog')
    await cart.getByRole('button', { name: 'Add voucher' }).click()
    return { phone, cart, code: cart.getByLabel('Voucher code') }
  }
  const { phone, cart, code } = await guest('A1')
  await code.fill('nothing')
  await code.press('Enter')
  await expect(cart.getByText('This code isn’t valid here.')).toBeVisible()
  await checkAccessibility(phone, 'a refused voucher')
  await code.fill('pho2026')
  await cart.getByRole('button', { name: 'Apply' }).click()
  await expect(cart.getByText('Voucher PHO2026')).toBeVisible()
  await expect(cart.locator('.summary')).toContainText('Pho week')
  await expect(cart.locator('.summary .total')).toContainText('₫58,500')
  await checkAccessibility(phone, 'a cart with a voucher')
  await cart.getByRole('radio', { name: /Pay at the counter/ }).check()
  await cart.getByRole('button', { name: 'Order and pay · ₫58,500' }).click()
  await expect(phone.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  await expect(phone.locator('.summary')).toContainText('Pho week')

  const second = await guest('A2')
  await second.code.fill('PHO2026')
  await second.cart.getByRole('button', { name: 'Apply' }).click()
  await expect(second.cart.getByText('This voucher has been used up.')).toBeVisible()
  await expect(second.cart.locator('.checkout-total')).toContainText('₫65,000')
  await second.code.fill('MEMBERS')
  await second.cart.getByRole('button', { name: 'Apply' }).click()
  await expect(second.cart.getByText('Log in to use this voucher.')).toBeVisible()

  await join(server, 'lan@voucher.example')
  const member = await (await browser.newContext({ viewport: sizes.phone, locale: 'en' })).newPage()
  await logIn(member, server, 'lan@voucher.example')
  await choose(member, 'Beef pho')
  await member.goto(`${server.url}/shop/checkout`)
  await receiver(member)
  await member.getByRole('button', { name: 'Add voucher' }).click()
  await member.getByLabel('Voucher code').fill('members')
  await member.getByRole('button', { name: 'Apply' }).click()
  await member.getByRole('button', { name: 'Order and pay · ₫58,500' }).click()
  await expect(member.locator('.summary .total')).toContainText('₫58,500')

  // The uses are counted on the console, where the owner ends a voucher.
  await desk.reload()
  await expect(first).toContainText('0 of 1 used · 1 in an unpaid order')
  await expect(first).toContainText('Used up')
  await checkAccessibility(desk, 'vouchers')
  await first.getByRole('button', { name: 'Edit PH…' }).click()
  await desk.getByRole('dialog').getByLabel('Number of uses').fill('20')
  await desk.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(first).toContainText('0 of 20 used')
  await first.getByRole('button', { name: 'End PH…' }).click()
  await desk.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
  await expect(first).toHaveCount(0)
  await Promise.all([phone, second.phone, member].map((p) => p.context().close()))
})
