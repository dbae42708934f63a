import { checkAccessibility } from './accessibility'
import { expect, sitDown, test } from './fixtures'
import { expectFocusInside, tabTo } from './keyboard'
import { enter, sizes } from './staff'

test('a guest marks dishes with milk by keyboard on a small phone, and is warned about an option', async ({ page, server }) => {
  await page.setViewportSize({ width: 320, height: 640 })
  await sitDown(page, server, 'A1')
  const card = (name: string) => page.getByRole('article').filter({ has: page.getByRole('link', { name, exact: true }) })
  const dishes = 16 // the menu appears one category after the other, so it is not counted here
  await expect(card('Iced sấu cooler'), 'a diet without a choice').toContainText('Vegetarian, Vegan')

  await tabTo(page, page.getByRole('link', { name: 'Allergies and diets' }))
  await page.keyboard.press('Enter')
  const wishes = page.getByRole('dialog', { name: 'Allergies and diets' })
  await expectFocusInside(wishes)
  await checkAccessibility(page, 'allergies and diets')
  await tabTo(page, wishes.getByRole('checkbox', { name: 'milk' }))
  await page.keyboard.press('Space')
  await tabTo(page, wishes.getByRole('button', { name: 'Show menu' }))
  await page.keyboard.press('Enter')
  await expect(wishes).toHaveCount(0)

  await expect(page.getByRole('article'), 'no dish is hidden').toHaveCount(dishes)
  await expect(card('Egg coffee')).toContainText('Contains milk')
  await expect(card('Beef pho')).toContainText('Suits your choice')
  await expect(card('Fried rice with beef and pickled mustard greens'), 'not declared').toContainText('Allergens not listed: ask us')
  await expect(card('Lunch set'), 'a part of the set').toContainText('Contains milk')
  expect(await page.evaluate(() => document.documentElement.scrollWidth), 'the page does not scroll sideways').toBeLessThanOrEqual(320)
  await checkAccessibility(page, 'a menu with marks')

  // The choice survives a reload. Of a set only the chosen parts count.
  await page.reload()
  await expect(card('Egg coffee')).toContainText('Contains milk')
  await expect(page.getByRole('link', { name: 'Allergies and diets: 1 chosen' })).toBeVisible()
  await card('Lunch set').getByRole('link').click()
  const sheet = page.getByRole('dialog', { name: 'Lunch set' })
  await expect(sheet.getByText('Please check before you add this dish:')).toHaveCount(0)
  await sheet.getByRole('radio', { name: /Iced sấu cooler/ }).check()
  await expect(sheet.getByText('Please check before you add this dish:')).toHaveCount(0)
  await tabTo(page, sheet.getByRole('radio', { name: /Iced sấu cooler/ }))
  await page.keyboard.press('ArrowDown')
  await expect(sheet.getByRole('radio', { name: 'Egg coffee Contains egg, milk' })).toBeChecked()
  await expect(sheet.getByText('Please check before you add this dish:')).toBeVisible()
  await checkAccessibility(page, 'a warning about the chosen options')
  await tabTo(page, sheet.getByRole('button', { name: /^Add/ }))
  await page.keyboard.press('Enter')
  await expect(sheet, 'a warned guest may still order').toHaveCount(0)

  // A correction of the dish reaches the phone at once.
  await server.staff('PATCH', '/api/dishes/4', { allergens: { declared: true, contains: ['AM'], mayContain: [] } })
  await page.reload()
  await expect(card('Beef pho')).toContainText('Contains milk')
})

test('an owner finds a dish without allergens and declares them', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'owner', 'dishes')
  const cards = page.getByRole('listitem').filter({ hasText: 'Allergens not declared' })
  await expect(cards.first()).toBeVisible()
  await page.getByLabel('Only without allergen information').check()
  const rice = page.getByRole('button', { name: 'Fried rice with beef and pickled mustard greens' })
  await expect(page.getByRole('button', { name: 'Beef pho' })).toHaveCount(0)
  await rice.click()
  const form = page.getByRole('dialog', { name: /Fried rice/ })
  await expect(form.getByText('Not declared: guests see')).toBeVisible()
  await form.getByLabel('We have checked all 14 allergens').check()
  await expect(form.getByText('None selected: guests see')).toBeVisible()
  await form.getByRole('combobox', { name: 'Contains', exact: true }).fill('must')
  await expect(page.getByRole('option', { name: 'mustard' })).toBeVisible()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab') // closes the list
  await expect(page.getByRole('option')).toHaveCount(0)
  await expect(form.getByText('mustard', { exact: true })).toBeVisible()
  await expect(form.getByRole('button', { name: 'Remove mustard' })).toBeVisible()
  await checkAccessibility(page, 'the allergens of a dish')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(form).toHaveCount(0)
  await expect(rice, 'it is declared now').toHaveCount(0)

  await page.setViewportSize(sizes.phone)
  await sitDown(page, server, 'A1')
  await page.getByRole('link', { name: 'Fried rice with beef and pickled mustard greens' }).click()
  await expect(page.getByRole('dialog')).toContainText('Contains mustard')
})
