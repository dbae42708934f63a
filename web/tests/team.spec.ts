import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { enter, sizes } from './staff'

// Adds several people by keyboard. One is refused, the response for another is lost, and none is stored twice.
test('an owner adds the team, and a cook takes over the tablet', async ({ page, another }) => {
  const server = await another() // other tests expect only the demo's accounts
  await page.setViewportSize({ width: 1440, height: 900 })
  await enter(page, server, 'owner', 'start')
  await page.getByRole('link', { name: 'Add people' }).click()
  await expect(page.getByRole('heading', { name: 'Add your team', level: 1 })).toBeVisible()
  const names = page.getByLabel('Name', { exact: true })
  await names.nth(0).fill('Lan')
  await names.nth(1).fill('Minh')
  await names.nth(2).fill('Hoa')
  await page.getByRole('group', { name: 'Hoa' }).getByLabel('PIN', { exact: true }).fill('1234')
  await expect(page.getByText('not all the same and not a sequence')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Add 3 people' })).toBeDisabled()
  await page.getByRole('group', { name: 'Hoa' }).getByLabel('PIN', { exact: true }).fill('4071')
  await page.getByRole('button', { name: 'Add another person' }).press('Enter')
  await expect(names.nth(3)).toBeFocused()
  await page.keyboard.type('Tuan')
  await checkAccessibility(page, 'a team to add')
  await page.setViewportSize(sizes.phone)

  let sent = 0
  await page.route('**/api/users', async (route) => {
    const body = route.request().method() === 'POST' ? (route.request().postDataJSON() as { firstName: string }) : undefined
    if (!body || sent++ > 3) return route.continue()
    if (body.firstName === 'Minh') { // the server stores it, but the answer is lost
      await route.fetch()
      return route.fulfill({ status: 503, json: { code: 'unavailable' } })
    }
    return body.firstName === 'Hoa' ? route.fulfill({ status: 403, json: { code: 'forbidden' } }) : route.continue()
  })
  await names.nth(3).press('Enter')
  const list = page.getByRole('region', { name: 'Who was added' })
  await expect(list.getByRole('listitem')).toHaveText([/Lan.*PIN/, /Tuan.*PIN/])
  await expect(page.getByRole('group', { name: 'Minh' }).getByRole('alert')).toContainText('no one is added twice')
  await expect(page.getByRole('group', { name: 'Hoa' }).getByRole('alert')).toBeVisible()
  await checkAccessibility(page, 'a team with problems')
  await page.getByRole('button', { name: 'Add 2 people' }).click()
  await expect(list.getByRole('listitem')).toHaveCount(4)
  await expect(list.getByRole('listitem').filter({ hasText: 'Hoa' })).toContainText('PIN 4071')
  const pin = await list.getByRole('listitem').filter({ hasText: 'Minh' }).locator('b').innerText()

  await page.emulateMedia({ media: 'print' })
  await expect(page.getByRole('button', { name: 'Add another person' })).toBeHidden()
  await expect(list).toBeVisible()
  await page.emulateMedia({ media: 'screen' })

  await page.getByRole('button', { name: 'Switch user' }).click()
  const minh = page.getByRole('dialog').getByRole('button', { name: /^Minh/ })
  await expect(minh).toHaveCount(1)
  await minh.click()
  await page.keyboard.type(pin)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Now working as Minh.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Order board' })).toBeVisible()
  await expect(page.getByText('No tickets')).toBeVisible()
})

// A cook without an e-mail address has forgotten the PIN. The owner resets it and hands out the new one.
test('an owner resets the PIN of a cook, who takes over the tablet with it', async ({ page, another }) => {
  const server = await another()
  await page.setViewportSize(sizes.phone)
  await enter(page, server, 'owner', 'users/new')
  await page.getByLabel('Name', { exact: true }).nth(0).fill('Lan')
  await page.getByRole('button', { name: 'Add 1 person' }).click()
  const once = page.getByRole('region', { name: 'Who was added' }).locator('b')
  await expect(once).toHaveText(/^\d{6}$/)
  const before = await once.innerText()

  await page.goto(`${server.url}/console/users`)
  const lan = page.getByRole('listitem').filter({ hasText: 'Lan' })
  await expect(page.getByRole('listitem').filter({ hasText: 'OWNER' }).getByRole('button', { name: 'Reset PIN' })).toHaveCount(0)
  await lan.getByRole('button', { name: 'Reset PIN' }).click()
  const dialog = page.getByRole('dialog', { name: 'Reset Lan’s PIN?' })
  const field = dialog.getByLabel('New PIN')
  await expect(field).toHaveValue(/^\d{6}$/)
  const pin = await field.inputValue()
  await field.fill('123456')
  await expect(dialog.getByRole('button', { name: 'Reset PIN' })).toBeDisabled()
  await field.fill(pin)
  await checkAccessibility(page, 'a PIN to reset')
  let lost = true
  await page.route('**/api/users/*/pin', async (route) => {
    if (!lost) return route.continue()
    lost = false // the server stores it, but the answer is lost
    await route.fetch()
    return route.fulfill({ status: 503, json: { code: 'unavailable' } })
  })
  await field.press('Enter')
  await expect(field).toHaveValue(pin)
  await dialog.getByRole('button', { name: 'Reset PIN' }).click()
  const sheet = page.getByRole('region', { name: 'New PINs' })
  await expect(sheet).toBeInViewport()
  await expect(sheet.getByRole('listitem')).toHaveText(new RegExp(`Lan.*PIN ${pin}`))
  await checkAccessibility(page, 'a PIN that was reset')
  await page.emulateMedia({ media: 'print' })
  await expect(page.getByRole('listitem').filter({ hasText: 'OWNER' })).toBeHidden()
  await expect(sheet).toBeVisible()
  await page.emulateMedia({ media: 'screen' })

  await page.getByRole('button', { name: 'Switch user' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^Lan/ }).click()
  await page.keyboard.type(before)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog').getByText('Wrong PIN')).toBeVisible()
  await page.keyboard.type(pin)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Now working as Lan.')).toBeVisible()
})
