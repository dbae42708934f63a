import type { Route } from '@playwright/test'

import { checkStructure } from './accessibility'
import { expect, test } from './fixtures'
import { enter, sizes } from './staff'

// What a person notices at a glance: where they are, what is cut off, and what moves.

test('the navigation shows the entry of the current page', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'owner', 'audit')
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Audit log' })).toBeInViewport({ ratio: 1 })
})

test('the navigation marks the list that a page belongs to', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'owner', 'roles')
  await page.locator('main').getByRole('link', { name: /Kitchen/ }).click()
  await expect(page).toHaveURL(/\/roles\/\d+$/)
  const marked = page.getByRole('navigation').locator('.v-list-item--active')
  await expect(marked).toHaveText('Roles')
})

test('the first steps appear once, with their state', async ({ page, server }) => {
  await enter(page, server, 'owner')
  const held: Route[] = []
  let holding = true // requests that follow the first ones pass
  await page.route('**/api/menus?*', (route) => holding ? void held.push(route) : route.continue())
  await page.goto(`${server.url}/console/start`)
  await expect(page.getByText('Loading…')).toBeVisible()
  await expect(page.getByText('Publish the menu')).toHaveCount(0) // it would look as if it were still to be done
  holding = false
  for (const route of held) await route.continue()
  await expect(page.getByText('Publish the menu')).toBeVisible()
})

test('links and buttons of a page have the same text', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'owner', 'dishes')
  const font = (name: string, role: 'link' | 'button') =>
    page.getByRole(role, { name, exact: true }).evaluate((e) => [getComputedStyle(e).fontSize, getComputedStyle(e).fontWeight])
  await expect(page.getByRole('link', { name: 'Categories', exact: true })).toBeVisible()
  expect(await font('Categories', 'link')).toEqual(await font('New dish', 'button'))
})

test('the branches of a new team are readable', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'owner', 'users/new')
  const name = page.locator('.place .v-select__selection-text').first()
  await expect(name).toHaveText('Comanda Hà Nội')
  expect(await name.evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0)
})

test('headings and landmarks are in order', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'owner', 'tables/plan')
  await expect(page.getByText('Not placed')).toBeVisible()
  await checkStructure(page, 'the plan of the tables')
  await page.goto(`${server.url}/console/option-groups`)
  await expect(page.getByRole('heading', { name: 'Sweetness' })).toBeVisible()
  await checkStructure(page, 'the groups of options')
  const { items: [menu] } = await server.staff<{ items: { publishedVersionId: string }[] }>('GET', '/api/menus?branchId=1')
  await page.goto(`${server.url}/console/menu-versions/${menu?.publishedVersionId ?? ''}/preview`)
  await expect(page.getByRole('group', { name: 'Language' })).toBeVisible()
  await checkStructure(page, 'the preview of a menu')
})

test('a guest with an invalid code finds the way to the restaurant', async ({ page, server }) => {
  await page.goto(`${server.url}/m/no-such-code-of-a-table-`)
  await expect(page.getByRole('heading', { name: 'This QR code isn’t valid' })).toBeVisible()
  await expect(page.getByText('Scan the code on your table again, or ask our staff.')).toBeVisible()
  await page.getByRole('link', { name: 'Visit our website' }).click()
  await expect(page).toHaveURL(`${server.url}/`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
})
