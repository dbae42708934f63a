import type { Locator, Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { add, expect, sitDown, test } from './fixtures'
import { enter, order, sizes } from './staff'

/** Chooses an entry of a drop-down list. */
async function choose(page: Page, within: Locator, label: string, entry: string): Promise<void> {
  await within.locator('.v-select').filter({ has: page.getByRole('combobox', { name: label }) }).last().click()
  const listed = page.getByRole('option', { name: entry })
  await expect(listed).toBeVisible()
  // The list follows its field while a panel opens, and a click in that moment selects nothing.
  await expect(async () => {
    if (await listed.count()) await listed.click({ timeout: 1000 })
    await expect(page.getByRole('option')).toHaveCount(0, { timeout: 1000 })
  }).toPass()
}

// An owner sets the taxes of a branch, guests see them before and after they order, and a manager takes something off.
test('an owner sets taxes and a service charge, and a guest pays them', async ({ page: desk, browser, another }) => {
  test.setTimeout(180_000) // it checks five screens in three languages and two themes
  const server = await another()
  await desk.setViewportSize(sizes.desktop)
  await enter(desk, server, 'owner', 'taxes')
  await expect(desk.getByText('No tax. Orders are the sum of their dishes.')).toBeVisible()
  await choose(desk, desk.getByRole('main'), 'Use the usual taxes of', 'Taiwan · Restaurant')
  const rate = desk.getByRole('group', { name: 'Tax rates, row 1' })
  await expect(rate.getByLabel('Percent')).toHaveValue('5')
  await expect(desk.getByRole('group', { name: 'Service charge', exact: true }).getByLabel('Percent')).toHaveValue('10')

  // A percentage that is none is refused, and nothing is stored.
  await rate.getByLabel('Percent').fill('500')
  await desk.getByRole('button', { name: 'Save' }).click()
  await expect(desk.locator('.save').getByRole('alert')).toContainText('Please check: Tax rates, row 1')
  await rate.getByLabel('Percent').fill('5')
  // Dishes without a tax class keep the rates from being saved.
  await desk.getByRole('button', { name: 'Save' }).click()
  await expect(desk.locator('.save').getByRole('alert')).toContainText('have no tax class with a rate')
  await checkAccessibility(desk, 'taxes and charges')
  for (const panel of await desk.locator('.v-expansion-panel').all()) {
    await panel.getByRole('button').first().click()
    await choose(desk, panel, 'Tax class of all these dishes', 'Food')
    await expect(panel.locator('.state')).toHaveText('Food')
  }
  await desk.getByRole('button', { name: 'Save' }).click()
  await expect(desk.getByText('Taxes and charges saved')).toBeVisible()
  await expect(desk.getByRole('row', { name: /Total/ })).toBeVisible() // the trial order

  await desk.getByRole('button', { name: 'Add discount' }).click()
  const regulars = desk.getByRole('group', { name: 'D1' })
  await regulars.getByLabel('Name · English').fill('Regulars')
  await desk.getByRole('button', { name: 'Save' }).click()
  await expect(desk.getByText('Taxes and charges saved').last()).toBeVisible()
  await expect(desk.getByRole('button', { name: 'Save' })).toBeDisabled()

  const phone = await (await browser.newContext({ viewport: sizes.phone, locale: 'en' })).newPage()
  await sitDown(phone, server, 'A1')
  await expect(phone.getByText('Service charge: 10%, added to every order.')).toBeVisible()
  await add(phone, 'Beef pho')
  await phone.getByRole('link', { name: /View cart/ }).click()
  const cart = phone.getByRole('dialog')
  await expect(cart.getByText('Service charge', { exact: true })).toBeVisible()
  await expect(cart.getByText('Includes 5% tax')).toBeVisible()
  await expect(cart.locator('.summary .total')).toContainText('₫71,500') // 65,000 and 10 %
  await checkAccessibility(phone, 'a cart with a service charge')
  await cart.getByRole('radio', { name: /Pay at the counter/ }).check()
  await cart.getByRole('button', { name: 'Order and pay · ₫71,500' }).click()
  await expect(phone.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  await expect(phone.locator('.summary .total')).toContainText('₫71,500')

  // A discount changes the total on the guest's phone, too.
  const placed = await order(server, 'A2', 'COUNTER')
  await desk.goto(`${server.url}/console/orders/${placed.id}`)
  await desk.getByRole('button', { name: 'Give discount' }).click()
  const dialog = desk.getByRole('dialog')
  await choose(desk, dialog, 'Discount', 'Regulars · 10%')
  await checkAccessibility(desk, 'a discount')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(desk.getByRole('row', { name: /Regulars/ })).toBeVisible()
  const total = Math.round((placed.totalPrice / 1.1) * 0.9 * 1.1)
  await expect(desk.getByRole('row', { name: /Total/ })).toContainText(`₫${total.toLocaleString('en')}`)
  await desk.getByRole('button', { name: 'Change discount' }).click()
  await desk.getByRole('dialog').getByRole('button', { name: 'Remove discount' }).click()
  await expect(desk.getByRole('row', { name: /Regulars/ })).toHaveCount(0)
})

test('a manager reads the taxes and finds nothing to press that only an owner may change', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager', 'taxes')
  await expect(page.getByText('Only owners and administrators can change this.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Service charges' })).toBeVisible()
  for (const name of ['Add rate', 'Add service charge', 'Add discount', 'Save']) await expect(page.getByRole('button', { name })).toHaveCount(0)
  await page.getByText('Include tax').click() // a list that is only read does not open
  await expect(page.getByRole('listbox')).toHaveCount(0)
  await checkAccessibility(page, 'taxes of a manager')
  await page.goto(`${server.url}/console/vouchers`)
  await expect(page.getByText('An owner can add a discount under Taxes and charges.')).toBeVisible()
})
