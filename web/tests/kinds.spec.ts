import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { choose, join, logIn, receiver } from './member'
import type { Server } from './server'
import { setUpPlain } from './staff'

interface Named {
  id: string
}
interface Item {
  itemId: string
  dishId: string
  names: Record<string, string>
}

/**
 * Sets up a menu for delivery with Oolong and Cake for 30,000, and one for pickup with Oolong for 25,000. Returns the menu item
 * of Oolong for delivery.
 */
async function twoMenus(server: Server): Promise<string> {
  await setUpPlain(server, ['Oolong', 'Cake'], 30_000)
  const branchId = (await server.staff<{ items: Named[] }>('GET', '/api/branches')).items[0]?.id ?? ''
  const schedule = { weekly: {}, fromDate: '', throughDate: '', priority: 0 }
  const { items: [delivery] } = await server.staff<{ items: (Named & { publishedVersionId: string })[] }>('GET', `/api/menus?branchId=${branchId}`)
  const { items } = await server.staff<{ items: Item[] }>('GET', `/api/menu-versions/${delivery?.publishedVersionId ?? ''}`)
  const of = (name: string) => items.find((i) => i.names.en === name)
  await server.staff('PUT', `/api/menus/${delivery?.id ?? ''}/schedule`, { ...schedule, kinds: ['DELIVERY'] })
  const pickup = await server.staff<Named>('POST', '/api/menus', { branchId, name: 'Pickup' })
  await server.staff('PUT', `/api/menus/${pickup.id}/schedule`, { ...schedule, kinds: ['PICKUP'] })
  const draft = await server.staff<Named>('POST', `/api/menus/${pickup.id}/versions`, {})
  await server.staff('POST', `/api/menu-versions/${draft.id}/items`, { dishId: of('Oolong')?.dishId, price: 25_000, dailyQuota: null, isActive: true })
  await server.staff('POST', `/api/menu-versions/${draft.id}/publish`)
  return of('Oolong')?.itemId ?? ''
}

test('a member picks up what is sold out for delivery', async ({ page, empty }) => {
  const oolong = await twoMenus(empty)
  await join(empty, 'lan@house.example')
  await logIn(page, empty, 'lan@house.example')
  await choose(page, 'Oolong')
  await page.goto(`${empty.url}/shop/checkout`)
  await receiver(page)
  await expect(page.getByRole('button', { name: 'Order and pay · ₫30,000' })).toBeEnabled()
  await empty.staff('PUT', `/api/menu-items/${oolong}/quota`, { dailyQuota: 0 })
  await page.getByRole('radio', { name: /Pickup/ }).check()
  await expect(page.getByRole('button', { name: 'Order and pay · ₫25,000' })).toBeEnabled()
  await expect(page.getByText('Sold out')).toHaveCount(0)

  await page.getByRole('radio', { name: /Delivery/ }).check()
  await expect(page.getByRole('alert').first()).toContainText('“Oolong” just sold out. Remove it to continue. Or choose pickup for the whole cart.')
  await checkAccessibility(page, 'a dish that is sold out for delivery only')

  // The cart is that for pickup, and so is the checkout after it.
  await page.getByRole('link', { name: 'Back to cart' }).click()
  await expect(page.getByText('Not everything in your cart can be delivered right now.')).toBeVisible()
  await expect(page.getByText('₫25,000').first()).toBeVisible()
  await checkAccessibility(page, 'a cart that can only be picked up')
  await page.getByRole('button', { name: 'Go to checkout' }).click()
  await expect(page.getByRole('radio', { name: /Pickup/ })).toBeChecked()
  await page.getByLabel('Name', { exact: true }).fill('Nguyễn Lan')
  await page.getByLabel('Phone').fill('0901234567')
  await page.getByRole('button', { name: 'Order and pay · ₫25,000' }).click()
  await expect(page).toHaveURL(/\/shop\/orders\//)
})

test('a dish that is delivered only is named when the order is picked up', async ({ page, empty }) => {
  await twoMenus(empty)
  await join(empty, 'mai@house.example')
  await logIn(page, empty, 'mai@house.example')
  await choose(page, 'Cake')
  await page.goto(`${empty.url}/shop/checkout`)
  await page.getByRole('radio', { name: /Pickup/ }).check()
  await expect(page.getByRole('alert').first()).toContainText('“Cake” isn’t available for pickup. Remove it to continue. Or choose delivery')
  await expect(page.getByText('Not available for pickup', { exact: true })).toBeVisible()
  await checkAccessibility(page, 'a dish that cannot be picked up')
})
