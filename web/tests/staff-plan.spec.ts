import type { Locator, Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { enter, order, sizes } from './staff'

/** Drags a table on the plan by some cells. */
async function drag(page: Page, table: Locator, columns: number, rows: number): Promise<void> {
  const cell = await table.evaluate((button) => {
    button.scrollIntoView({ block: 'center' }) // near an edge of the window, a drag scrolls
    return button.parentElement?.clientHeight ?? 0
  })
  const from = await table.boundingBox()
  if (!from) throw new Error('the table is not shown')
  const [x, y] = [from.x + from.width / 2, from.y + from.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + (columns * cell) / 2, y + (rows * cell) / 2)
  await page.mouse.move(x + columns * cell, y + rows * cell)
  await page.mouse.up()
}

test('a floor plan is drawn by keyboard and pointer, and kept', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  for (const label of ['P1', 'P2', 'P3']) await server.staff('POST', '/api/tables', { branchId: '1', label, section: 'Garden' })
  await enter(page, server, 'manager', 'tables')
  await page.getByRole('button', { name: 'Plan', exact: true }).click()
  const garden = page.getByRole('region', { name: 'Garden', exact: true })
  const at = (label: string) => garden.getByRole('button', { name: new RegExp(`^Table ${label}, 4 seats`) })
  await expect(garden.getByText('Not placed')).toBeVisible()
  await page.getByRole('link', { name: 'Edit plan' }).click()
  await expect(page.getByText('No changes', { exact: true })).toBeVisible() // tables look the same on the page before

  // By keyboard: the first arrow puts a table on the plan, the next ones move it.
  await at('P1').focus()
  await page.keyboard.press('ArrowDown')
  await expect(garden.locator('.plan').getByRole('button')).toHaveCount(1)
  await expect(at('P1')).toBeFocused()
  await page.keyboard.press('ControlOrMeta+z')
  await expect(garden.locator('.tray').getByRole('button')).toHaveCount(3)
  await expect(at('P1')).toBeFocused() // although it is in another list
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  await expect(page.getByText('Table P1: column 2, row 2')).toBeAttached()
  await page.keyboard.press('Enter')
  await checkAccessibility(page, 'the shape of a table')
  await page.getByRole('dialog').getByRole('button', { name: 'Round' }).click()
  await expect(at('P1')).toBeFocused()
  await expect(page.getByText('1 change', { exact: true })).toBeVisible()

  // By pointer, from one cell to another.
  await garden.getByRole('button', { name: 'Place all' }).click()
  await expect(garden.locator('.plan').getByRole('button')).toHaveCount(3)
  await drag(page, at('P2'), 3, 2)
  await expect(page.getByText('Table P2: column 4, row 3')).toBeAttached()
  await drag(page, at('P2'), -2, -1) // P1 is there
  await drag(page, at('P2'), 1, 0)
  await expect(page.getByText('Table P2: column 5, row 3')).toBeAttached()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.setViewportSize(sizes.phone)
  await checkAccessibility(page, 'editing a plan on a phone')
  await page.setViewportSize(sizes.desktop)
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByRole('dialog', { name: 'Discard your changes to the plan?' }).getByRole('button', { name: 'Cancel' }).click()

  // Someone else has placed a new table where P2 is to stand, which this page reads only after the refusal.
  let answer = (): void => undefined
  const refused = new Promise<void>((resolve) => (answer = resolve))
  await page.route('**/api/tables?*', async (route) => {
    await refused
    await route.continue()
  })
  await page.route('**/floor-plan', async (route) => {
    answer()
    await route.continue()
  })
  const added = await server.staff<{ id: string }>('POST', '/api/tables', { branchId: '1', label: 'P4', section: 'Garden' })
  await server.staff('PUT', '/api/branches/1/floor-plan', { tables: [{ tableId: added.id, planColumn: 3, planRow: 2, shape: 'SQUARE' }] })
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'Place these tables again: P2' })).toBeVisible()
  await at('P2').focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Plan saved.')).toBeVisible()
  await expect(page).toHaveURL(/\/tables$/)

  const { items } = await server.staff<{ items: { label: string; planColumn: number; planRow: number; shape: string }[] }>('GET', '/api/tables?branchId=1')
  const places = items.filter((t) => t.label.startsWith('P')).map((t) => `${t.label} ${String(t.planColumn)},${String(t.planRow)} ${t.shape}`)
  expect(places).toEqual(['P1 1,1 ROUND', 'P2 0,0 SQUARE', 'P3 1,0 SQUARE', 'P4 3,2 SQUARE'])
  await page.reload()
  await expect(at('P1')).toHaveAccessibleName('Table P1, 4 seats, Free')
  await expect(garden.getByText('Not placed')).toHaveCount(0)
})

test('the floor plan shows the state of its tables, and opens their cards', async ({ page, server }) => {
  await page.setViewportSize(sizes.phone)
  const { id } = await server.staff<{ id: string }>('POST', '/api/tables', { branchId: '1', label: 'Q1', seats: 2, section: 'Patio' })
  await server.staff('PUT', '/api/branches/1/floor-plan', { tables: [{ tableId: id, planColumn: 9, planRow: 3, shape: 'WIDE' }] })
  await enter(page, server, 'cashier', 'tables')
  await page.getByRole('button', { name: 'Plan', exact: true }).click()
  await expect(page.getByRole('link', { name: 'Edit plan' })).toHaveCount(0) // for managers
  const q1 = page.getByRole('region', { name: 'Patio' }).getByRole('button')
  await expect(q1).toHaveAccessibleName('Table Q1, 2 seats, Free')

  const o = await order(server, 'Q1', 'COUNTER')
  await expect(q1).toHaveAccessibleName('Table Q1, 2 seats, Not paid yet')
  await checkAccessibility(page, 'a plan on a phone')
  await q1.click()
  const card = page.getByRole('dialog', { name: 'Table Q1' })
  await expect(card).toContainText('Not paid yet')
  await checkAccessibility(page, 'the card of a table')
  await card.getByRole('button', { name: 'Close' }).click()
  await expect(q1).toBeFocused()
  await q1.click()
  await card.getByRole('link', { name: '1 order' }).click()
  await expect(page.getByText(o.number)).toBeVisible()
  await page.goBack()
  await expect(q1).toBeVisible() // the device keeps the view
})
