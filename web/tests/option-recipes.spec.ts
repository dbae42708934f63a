import { checkAccessibility } from './accessibility'
import { expect, sitDown, test } from './fixtures'
import { enter, owner, sizes } from './staff'
import { publishTea } from './tea'

test('an owner sets what an option uses from stock, and an order deducts it', async ({ page, empty }) => {
  const { branchId } = await publishTea(empty)
  await empty.staff('PUT', '/inventory/tapioca', { branchId, available: 1000 })
  await page.setViewportSize(sizes.desktop)
  await enter(page, empty, owner, 'option-groups')
  await page.getByRole('button', { name: 'Recipe for Pearls in Quán Hoa' }).click()
  const recipe = page.getByRole('dialog', { name: 'Recipe for Pearls in Quán Hoa' })
  await expect(recipe.getByText('This option doesn’t use any stock.')).toBeVisible()
  await recipe.getByLabel('Add ingredient').press('ArrowDown')
  await page.getByRole('option', { name: 'tapioca' }).click()
  await recipe.getByLabel('Quantity of tapioca').fill('40')
  await expect(page.getByRole('listbox')).toHaveCount(0) // the closing list
  await checkAccessibility(page, 'the recipe of an option')
  await recipe.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Recipe saved.')).toBeVisible()

  await sitDown(page, empty, 'A1')
  await page.getByRole('link', { name: 'Pearl milk tea', exact: true }).click()
  await page.getByRole('radio', { name: /^M / }).check()
  await page.getByRole('button', { name: 'One more: Pearls' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^Add/ }).click()
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('radio', { name: /Pay at the counter/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  const { items } = await empty.staff<{ items: { available: number }[] }>('GET', `/api/stock/items?branchId=${branchId}`)
  expect(items[0]?.available).toBe(960)
})
