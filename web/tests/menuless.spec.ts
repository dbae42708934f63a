import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { enter, owner, setUpTables, sizes } from './staff'

test('a table of a branch without a menu waits for one', async ({ page, another }) => {
  const server = await another()
  const { id: branchId } = await server.staff<{ id: string }>('POST', '/api/branches', { name: 'Quán Hoa', country: 'VN', locales: ['vi', 'en'] })
  await server.staff('POST', `/api/branches/${branchId}/tables/bulk`, { labels: 'T1-T2', seats: 4 })
  await page.goto((await server.table('T1')).link)
  await expect(page.getByText('No menu is available right now. Please ask our staff.')).toBeVisible()
  await checkAccessibility(page, 'a table without a menu')

  await server.staff('POST', `/api/branches/${branchId}/menu/templates`, { name: 'bubble-tea', publish: true })
  const followed = page.waitForRequest(/availability\/events/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('article').first()).toBeVisible()
  await followed
})

test('the console says that a branch has no live menu, and leads to its menus', async ({ page, empty }) => {
  await page.setViewportSize(sizes.desktop)
  await setUpTables(empty)
  await enter(page, empty, owner, 'recipes')
  await expect(page.getByRole('heading', { name: 'This branch has no live menu yet.' })).toBeVisible()
  await expect(page.getByRole('searchbox')).toHaveCount(0)
  await checkAccessibility(page, 'recipes without a menu')
  await page.goto(`${empty.url}/console/availability`)
  await expect(page.getByRole('heading', { name: 'This branch has no live menu yet.' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Pause ordering' })).toBeVisible()
  await checkAccessibility(page, 'availability without a menu')
  await page.getByRole('link', { name: 'Go to menus' }).click()
  await expect(page.getByText('This branch has no menus yet.')).toBeVisible()
})
