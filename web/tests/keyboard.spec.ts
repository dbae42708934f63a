import type { Locator, Page } from '@playwright/test'

import { expect, test } from './fixtures'
import { expectFocusInside, tabTo } from './keyboard'
import { enter, owner, setUp, sizes } from './staff'

// Pages that an owner uses by keyboard alone. The mouse only logs in.

const picture = {
  name: 'logo.png', mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAYklEQVR42g3JoQFEMQhEwSvn1YRGo9GrV6Ojo6Ojf1mXsfP7ghucYAcrmMCBgt+X3OQkO1nJJE6UL4pbnGIXq5jChepFc5vT7GY107hRvxBXHLHFEiMspBfmmmO2WWaMjcwfQdU8AbpcTL4AAAAASUVORK5CYII=',
    'base64'),
}

/** Moves the focus to an element with Tab and presses a key. */
async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press(key)
}

/** Moves the focus to a field with Tab and replaces its text. */
async function type(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(text)
}

test('an owner sets the brand by keyboard alone', async ({ page, empty }) => {
  await page.setViewportSize(sizes.desktop)
  await setUp(empty)
  await enter(page, empty, owner, 'brand')
  page.on('filechooser', (chooser) => chooser.setFiles(picture))
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const accent = page.getByLabel('Accent colour').last()

  await type(page, page.getByLabel('Name', { exact: true }), 'Quán Hoa')
  await type(page, accent, '#8b1e3f')
  await expect(page.getByText('Too dark for dark screens.')).toBeVisible()
  await press(page, button('Standard colours'))
  await expect(accent).toHaveValue('')
  await expect(accent).toBeFocused() // its button is removed
  await page.keyboard.type('#8b1e3f')

  const logo = page.getByRole('group', { name: 'Logo' })
  await press(page, logo.getByRole('button', { name: 'Upload' }))
  await expect(logo.getByRole('img', { name: 'Logo' })).toBeVisible()
  await expect(logo.getByRole('button', { name: 'Replace' })).toBeFocused()
  await press(page, logo.getByRole('button', { name: 'Remove' }))
  await expect(logo.getByText('No picture yet')).toBeVisible()
  await expect(logo.getByRole('button', { name: 'Upload' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(logo.getByRole('img', { name: 'Logo' })).toBeVisible()

  await type(page, page.getByLabel('Title · English'), 'Hello!')
  await type(page, page.getByLabel('Phone'), '024 3825 0000')
  await page.keyboard.press('Enter') // sends the form
  await expect(page.getByText('Saved. Guests see it within seconds.')).toBeVisible()
  await expect(page.getByLabel('Phone')).toBeFocused()
  await page.reload()
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Quán Hoa')
  await expect(accent).toHaveValue('#8b1e3f')
  await expect(page.getByLabel('Phone')).toHaveValue('024 3825 0000')
})

test('an owner connects a payment gateway by keyboard alone', async ({ page, empty }) => {
  await page.setViewportSize(sizes.desktop)
  await setUp(empty)
  await enter(page, empty, owner, 'settings')
  const account = page.locator('form').filter({ hasText: 'From your VNPay contract' })
  const save = account.getByRole('button', { name: 'Save' })
  await type(page, account.getByLabel('Merchant code (TMN code)'), 'QUANHOA1')
  await press(page, save)
  await expect(account.getByText('Enter the hash secret: at least 8 characters without spaces.')).toBeVisible()
  await expect(save).toBeFocused()
  // Shift+Tab leads back to the field that has to be filled in.
  const secret = account.getByLabel('Hash secret')
  for (let i = 0; i < 10 && !(await secret.evaluate((e) => e === document.activeElement)); i++) await page.keyboard.press('Shift+Tab')
  await expect(secret).toBeFocused()
  await page.keyboard.type('of-another-restaurant')
  await type(page, account.getByLabel('Payment page'), `${empty.url}/sim/vnpay/paymentv2/vpcpay.html`)
  await type(page, account.getByLabel('API address'), `${empty.url}/sim/vnpay/merchant_webapi/api/transaction`)
  await page.keyboard.press('Enter') // sends the form
  await expect(page.getByText('Saved. Changes take effect within seconds.')).toBeVisible()
  const test = account.getByRole('button', { name: 'Test connection' })
  await press(page, test)
  await expect(account.getByText('VNPay refuses these credentials.')).toBeVisible()
  await expect(test).toBeFocused()
})

test('an owner prints the QR codes by keyboard alone', async ({ page, empty }) => {
  await page.setViewportSize(sizes.desktop)
  await page.addInitScript(() => {
    window.print = () => { document.title = 'printed' }
  })
  await setUp(empty)
  await enter(page, empty, owner, 'tables')
  await press(page, page.getByRole('link', { name: 'Print QR codes' }))
  await expect(page.locator('svg.sheet').first()).toBeVisible()
  await expect(page.locator('#main')).toBeFocused()
  await press(page, page.getByRole('button', { name: 'Print' }))
  await expect(page).toHaveTitle('printed')
  await expect(page.getByRole('button', { name: 'Print' })).toBeFocused()
  await press(page, page.getByRole('link', { name: 'Settings' }))
  await expect(page.getByRole('heading', { name: 'Settings', level: 1 })).toBeVisible()
  await page.keyboard.press('Alt+ArrowLeft')
  await press(page, page.getByRole('link', { name: 'Tables' }))
  await expect(page.getByRole('heading', { name: 'Tables', level: 1 })).toBeVisible()
})

test('an owner sets the opening hours by keyboard alone', async ({ page, empty }) => {
  await page.setViewportSize(sizes.desktop)
  const { branchId } = await setUp(empty)
  await enter(page, empty, owner, 'branches')
  const opener = page.getByRole('button', { name: 'Opening hours of Quán Hoa' })
  const hours = page.getByRole('dialog', { name: 'Opening hours of Quán Hoa' })
  await press(page, opener)
  await expectFocusInside(hours)
  const day = new Date(Date.now() + 30 * 86_400_000)
  const two = (n: number) => String(n).padStart(2, '0')
  await press(page, hours.getByRole('button', { name: 'Add date' }))
  await expect(hours.getByLabel('Date', { exact: true })).toBeFocused()
  await page.keyboard.type(`${two(day.getMonth() + 1)}${two(day.getDate())}${String(day.getFullYear())}`)
  await type(page, hours.getByLabel('Note (optional)'), 'Wedding')
  await press(page, hours.getByRole('button', { name: 'Add date' }))
  await press(page, hours.getByRole('button', { name: /^Remove/ }).last())
  await expect(hours.getByLabel('Note (optional)')).toHaveCount(1)
  await expect(hours.getByRole('button', { name: 'Add date' })).toBeFocused()
  await press(page, hours.getByLabel('Open at all hours'), 'Space')
  await tabTo(page, hours.getByLabel('Monday: from'))
  await page.keyboard.type('0930AM')
  await tabTo(page, hours.getByLabel('Monday: until'))
  await page.keyboard.type('0200PM')
  await press(page, hours.getByRole('button', { name: 'Monday: add hours' }))
  await expect(hours.getByLabel('Monday: from').last()).toBeFocused() // the new hours
  await page.keyboard.type('0500PM')
  await tabTo(page, hours.getByLabel('Monday: until').last())
  await page.keyboard.type('1000PM')
  await press(page, hours.getByRole('button', { name: 'Copy to all days' }))
  await expect(hours.getByLabel('Sunday: until').last()).toHaveValue('22:00')
  await press(page, hours.getByRole('button', { name: 'Tuesday: remove these hours' }).first())
  await expect(hours.getByLabel('Tuesday: from')).toHaveCount(1)
  await expect(hours.getByRole('button', { name: 'Tuesday: add hours' })).toBeFocused()
  await tabTo(page, hours.getByLabel('Wednesday: from').first())
  await page.keyboard.press('Enter') // sends the form
  await expect(hours).toHaveCount(0)
  await expect(opener).toBeFocused()
  const { items } = await empty.staff<{ items: { id: string; openingHours: { weekly: Record<string, object[]>; exceptions: object[] } }[] }>('GET', '/api/branches')
  const stored = items.find((b) => b.id === branchId)?.openingHours
  expect(stored?.weekly).toMatchObject({
    mon: [{ from: '09:30', to: '14:00' }, { from: '17:00', to: '22:00' }], tue: [{ from: '17:00', to: '22:00' }],
    sun: [{ from: '09:30', to: '14:00' }, { from: '17:00', to: '22:00' }],
  })
  expect(stored?.exceptions).toHaveLength(1)
})
