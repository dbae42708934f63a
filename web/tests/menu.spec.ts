import { checkAccessibility } from './accessibility'
import { expect, sitDown, test } from './fixtures'
import { join, logIn } from './member'

// The test cannot lose requests of a page that a service worker controls.
test.use({ serviceWorkers: 'block' })

test('a scan opens the menu, and a tap adds a dish', async ({ page, server }) => {
  await server.quota('12', 2)
  await sitDown(page, server, 'A1')
  await expect(page).toHaveURL(/\/app\/order$/)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Comanda Hà Nội')
  await expect(page.getByText('Welcome to table A1')).toBeVisible()
  // Guests who have just sat down have no orders yet, but may call the staff.
  await expect(page.getByRole('link', { name: 'Your table’s orders' })).toHaveCount(0)
  await page.getByRole('link', { name: 'Call a server' }).click()
  await checkAccessibility(page, 'call')
  await page.getByRole('button', { name: 'Water, please' }).click()
  await expect(page.getByText('Someone is on the way')).toBeVisible()
  await page.getByRole('button', { name: 'Close' }).click()

  const stepper = page.getByRole('group', { name: 'Quantity: Chicken pho' })
  await stepper.getByRole('button', { name: 'Add to cart: Chicken pho' }).click()
  await stepper.getByRole('button', { name: 'One more: Chicken pho' }).click()
  await expect(stepper.getByRole('button', { name: 'One more: Chicken pho' })).toBeDisabled() // only two are left
  await expect(page.getByRole('link', { name: /View cart · 2 items/ })).toBeVisible()
  await stepper.getByRole('button', { name: 'One less: Chicken pho' }).click()
  await stepper.getByRole('button', { name: 'Remove Chicken pho' }).click()
  await expect(stepper.getByRole('button')).toBeFocused() // the only remaining button
  await expect(page.getByRole('link', { name: /View cart/ })).toHaveCount(0)

  // A sold-out dish comes last in its category.
  const dishes = page.getByRole('region', { name: 'Pho', exact: true }).getByRole('article')
  await expect(dishes.nth(1)).toContainText('Chicken pho')
  await server.quota('12', 0)
  await expect(dishes.last()).toContainText('Chicken pho')
  await expect(dishes.last()).toContainText('Sold out')
  await expect(stepper).toHaveCount(0)
})

test('a tap on a card adds a dish for a member', async ({ page, server }) => {
  await server.quota('12', 2)
  await join(server, 'thu@house.example')
  await logIn(page, server, 'thu@house.example')
  const stepper = page.getByRole('group', { name: 'Quantity: Chicken pho' })

  // A tap that fails shows an error and adds nothing.
  await page.route('**/cart/add-dish', (route) => route.abort(), { times: 1 })
  await stepper.getByRole('button', { name: 'Add to cart: Chicken pho' }).click()
  await expect(page.getByRole('main').getByRole('alert')).toBeVisible()
  await expect(page.getByRole('link', { name: /View cart/ })).toHaveCount(0)

  await stepper.getByRole('button', { name: 'Add to cart: Chicken pho' }).click()
  await expect(page.getByRole('main').getByRole('alert')).toHaveCount(0)
  await stepper.getByRole('button', { name: 'One more: Chicken pho' }).click()
  await expect(page.getByRole('link', { name: /View cart · 2 items/ })).toBeVisible()
  await expect(stepper.getByRole('button', { name: 'One more: Chicken pho' })).toBeDisabled() // only two are left
  await page.reload()
  await expect(stepper).toContainText('2') // the server has stored the change

  // Another restaurant's menu has no quick add: its dishes would replace the cart, so the app asks first.
  await page.getByLabel('Restaurant').selectOption('2')
  await expect(page.getByRole('link', { name: 'Danzai noodles', exact: true })).toBeVisible()
  await expect(page.getByRole('group')).toHaveCount(0)
  await page.getByLabel('Restaurant').selectOption('1')

  await stepper.getByRole('button', { name: 'One less: Chicken pho' }).click()
  await stepper.getByRole('button', { name: 'Remove Chicken pho' }).click()
  await expect(stepper.getByRole('button')).toBeFocused() // the only remaining button
  await expect(page.getByRole('link', { name: /View cart/ })).toHaveCount(0)
})

test('the search finds dishes in all languages of the menu', async ({ page, server }) => {
  await sitDown(page, server, 'A2')
  const search = page.getByRole('searchbox', { name: 'Search dishes' })
  for (const [words, dish] of [
    ['ca phe', 'Egg coffee'], ['牛肉河粉', 'Beef pho'], ['bun cha', 'Bun cha'], ['nuoc sau da', 'Iced sấu cooler'], ['egg', 'Egg coffee'],
  ] as const) {
    await search.fill(words)
    await expect(page.getByRole('link', { name: dish, exact: true })).toBeVisible()
    await expect(page.getByRole('link', { name: 'Chicken pho', exact: true })).toHaveCount(0)
  }
  await search.fill('lasagne')
  await expect(page.getByText('No dishes match “lasagne”.')).toBeVisible()
  await checkAccessibility(page, 'nothing found')
  await page.getByRole('button', { name: 'Clear search' }).click()
  await expect(search).toBeFocused()
  await expect(page.getByRole('link', { name: 'Chicken pho', exact: true })).toBeVisible()
})
