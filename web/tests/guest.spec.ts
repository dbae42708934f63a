import { add, expect, sitDown, test } from './fixtures'

test('a guest orders two dishes, pays, and orders again', async ({ page, server }) => {
  await server.quota('12', 3)
  await sitDown(page, server, 'A1')
  await page.getByLabel('Language').selectOption('vi')
  await expect(page.locator('html')).toHaveAttribute('lang', 'vi')
  await expect(page.getByRole('link', { name: 'Phở bò', exact: true })).toBeVisible()
  await page.getByLabel('Ngôn ngữ').selectOption('en')

  await expect(page.getByText('Only 3 left')).toBeVisible()
  await add(page, 'Beef pho', 'no onion')
  await add(page, 'Chicken pho')
  await expect(page.getByRole('link', { name: /View cart · 2 items/ })).toBeVisible()

  // A note is edited in place.
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('button', { name: 'Edit note Beef pho' }).click()
  await page.getByLabel('Note for the kitchen: Beef pho').fill('no onion, more lime')
  await page.getByRole('button', { name: 'Save note' }).click()
  await expect(page.locator('li:focus')).toContainText('Note: no onion, more lime')
  await page.getByRole('button', { name: 'Close' }).click()

  // The dish sells out while it is in the cart.
  await server.quota('12', 0)
  await expect(page.getByRole('alert')).toContainText('“Chicken pho” just sold out')
  await page.getByRole('link', { name: /View cart · 1 item/ }).click() // the sold-out dish is not counted
  const cart = page.getByRole('dialog', { name: 'Your cart' })
  await expect(cart.getByText('Sold out, not charged')).toBeVisible()
  await cart.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.locator('li:focus')).toContainText('Chicken pho')
  await cart.getByRole('button', { name: 'Remove Chicken pho' }).click()
  await expect(cart.getByText('Note: no onion, more lime')).toBeVisible()
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()

  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible()
  await expect(page.getByRole('timer')).toHaveText(/^1[45]:\d\d$/)
  await page.getByRole('button', { name: 'Simulate a failure' }).click()
  await expect(page.getByRole('heading', { name: 'Payment didn’t go through' })).toBeVisible()
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await page.getByRole('button', { name: 'Pay now' }).click()
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  await expect(page.getByRole('list', { name: 'Order status' })).toContainText('Paid')

  // The order has the menu's dish names in each language.
  await expect(page.getByRole('listitem').filter({ hasText: 'Beef pho' })).toBeVisible()
  await page.getByLabel('Language').selectOption('vi')
  await expect(page.getByRole('listitem').filter({ hasText: 'Phở bò' })).toBeVisible()
  await page.getByLabel('Ngôn ngữ').selectOption('en')

  await page.getByRole('link', { name: 'Your table’s orders' }).last().click()
  await expect(page.getByRole('listitem').filter({ hasText: 'Beef pho' })).toBeVisible()
  await page.getByRole('button', { name: /Order again/ }).click()
  await expect(page.getByRole('dialog')).toContainText('Note: no onion')
  await page.getByRole('radio', { name: /Pay at the counter/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  await page.getByRole('link', { name: 'Your table’s orders' }).last().click()
  await expect(page.getByRole('article')).toHaveCount(2)
  await page.getByRole('button', { name: 'Water, please' }).click()
  await expect(page.getByText('Someone is on the way')).toBeVisible()
})
