import type { Browser, Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { add, expect, orderCart, test } from './fixtures'
import type { Server } from './server'
import { enter, owner, setUp, sizes } from './staff'

// The pages that an owner needs after the set-up.

const logo = {
  name: 'logo.png', mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAYklEQVR42g3JoQFEMQhEwSvn1YRGo9GrV6Ojo6Ojf1mXsfP7ghucYAcrmMCBgt+X3OQkO1nJJE6UL4pbnGIXq5jChepFc5vT7GY107hRvxBXHLHFEiMspBfmmmO2WWaMjcwfQdU8AbpcTL4AAAAASUVORK5CYII=',
    'base64'),
}

/** A phone on which a guest reads the menu of a table. */
async function newPhone(browser: Browser, server: Server): Promise<Page> {
  const phone = await (await browser.newContext({ viewport: sizes.phone, locale: 'en', timezoneId: 'Asia/Ho_Chi_Minh' })).newPage()
  await phone.goto((await server.table('A1')).link)
  await expect(phone.getByRole('link', { name: 'Pearl milk tea', exact: true })).toBeVisible()
  return phone
}

test('an owner changes the settings and tests an account at a gateway', async ({ page, empty }) => {
  await page.setViewportSize(sizes.desktop)
  await setUp(empty)
  await enter(page, empty, owner, 'settings')
  await expect(page.getByText('Set by COMANDA_PUBLIC_URL')).toBeVisible() // the environment wins
  await expect(page.getByText(/^restaurant\./), 'the name of a missing text').toHaveCount(0)
  const paying = page.locator('form').filter({ hasText: 'Grace period' })
  await paying.getByLabel('Time to pay', { exact: true }).fill('20')
  await paying.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved. Changes take effect within seconds.')).toBeVisible()
  const account = page.locator('form').filter({ hasText: 'From your VNPay contract' })
  await account.getByLabel('Merchant code (TMN code)').fill('QUANHOA1')
  await account.getByRole('button', { name: 'Save' }).click() // an incomplete account is refused
  await expect(account.getByText('Enter the hash secret: at least 8 characters without spaces.')).toBeVisible()
  const address = `${empty.url}/sim/vnpay`
  await account.getByLabel('Hash secret').fill('of-another-restaurant')
  await account.getByLabel('Payment page').fill(`${address}/paymentv2/vpcpay.html`)
  await account.getByLabel('API address').fill(`${address}/merchant_webapi/api/transaction`)
  await expect(account.getByRole('button', { name: 'Test connection' })).toBeDisabled() // the typed values are not saved yet
  await account.getByRole('button', { name: 'Save' }).click()
  await account.getByRole('button', { name: 'Test connection' }).click()
  await expect(account.getByText('VNPay refuses these credentials.')).toBeVisible()
  await expect(account.getByText('02 Invalid TmnCode')).toBeVisible()
  // The server restarts meanwhile. The test continues by itself, and what is typed elsewhere stays.
  await paying.getByLabel('Time to pay at the counter').fill('90')
  await empty.stop('SIGKILL')
  await account.getByRole('button', { name: 'Test connection' }).click()
  await expect(account.getByText('The test continues as soon as it’s back.')).toBeVisible()
  await expect(account.getByText('VNPay refuses these credentials.')).toHaveCount(0)
  await empty.start()
  await expect(account.getByText('VNPay refuses these credentials.')).toBeVisible()
  await expect(account.getByText('The test continues as soon as it’s back.')).toHaveCount(0)
  await expect(paying.getByLabel('Time to pay at the counter')).toHaveValue('90')
  const mail = page.locator('form').filter({ hasText: 'Sends verification codes and confirmations.' })
  await mail.getByRole('button', { name: 'Test connection' }).click()
  await expect(mail.getByText('Nothing to test yet. Fill in the fields and save.')).toBeVisible()
  await checkAccessibility(page, 'settings')
})

test('guests see when the restaurant is closed', async ({ page, empty, browser }) => {
  await page.setViewportSize(sizes.desktop)
  await setUp(empty)
  const phone = await newPhone(browser, empty)
  await enter(page, empty, owner, 'branches')
  await page.getByRole('button', { name: 'Opening hours of Quán Hoa' }).click()
  const hours = page.getByRole('dialog', { name: 'Opening hours of Quán Hoa' })
  await hours.getByLabel('Open at all hours').uncheck()
  await hours.getByRole('button', { name: 'Monday: add hours' }).click()
  await checkAccessibility(page, 'opening hours')
  await page.keyboard.press('Escape')

  // The restaurant is always open, except today. Its guests can read the menu, but not order.
  await add(phone, 'Pearl milk tea')
  await page.getByRole('button', { name: 'Opening hours of Quán Hoa' }).click()
  await hours.getByRole('button', { name: 'Add date' }).click()
  await hours.getByLabel('Date', { exact: true }).fill(new Date().toLocaleDateString('sv', { timeZone: 'Asia/Ho_Chi_Minh' }))
  await hours.getByLabel('Note (optional)').fill('Wedding')
  await hours.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText(/^Opens /)).toBeVisible()
  await expect(phone.getByText(/^We’re closed. We open on \w+ at /)).toBeVisible()
  await expect(phone.getByRole('link', { name: 'Pearl milk tea', exact: true })).toBeVisible()
  await phone.getByRole('link', { name: /View cart/ }).click()
  await expect(phone.getByRole('button', { name: /Order and pay/ })).toBeDisabled()
  await checkAccessibility(phone, 'a cart while the restaurant is closed')
  await page.getByRole('button', { name: 'Opening hours of Quán Hoa' }).click()
  await hours.getByRole('button', { name: /^Remove/ }).click()
  await hours.getByRole('button', { name: 'Save' }).click()
  await expect(phone.getByRole('button', { name: /Order and pay/ })).toBeEnabled()
  await expect(phone.getByText(/^We’re closed. We open on/)).toHaveCount(0)
  await phone.context().close()
})

test('guests see the brand of the restaurant, and no other name', async ({ page, empty, browser }) => {
  await page.setViewportSize(sizes.desktop)
  await setUp(empty)
  await enter(page, empty, owner, 'brand')
  const accent = page.getByLabel('Accent colour').first()
  await accent.fill('#ffe08a')
  await expect(page.getByText('Too pale for light screens.')).toBeVisible()
  await checkAccessibility(page, 'brand')
  await accent.fill('#8b1e3f')
  await page.getByLabel('Name', { exact: true }).fill('Quán Hoa')
  await page.getByRole('group', { name: 'Logo' }).locator('input[type=file]').setInputFiles(logo)
  await expect(page.getByRole('img', { name: 'Logo' })).toBeVisible()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved. Guests see it within seconds.')).toBeVisible()

  const guest = await newPhone(browser, empty)
  const mark = guest.getByRole('link', { name: /Quán Hoa/ }).locator('img').first()
  await expect(mark).toHaveAttribute('src', /^\/media\//)
  await expect.poll(() => mark.evaluate((e: HTMLImageElement) => e.naturalWidth)).toBeGreaterThan(0)
  await expect(guest).toHaveTitle('Quán Hoa')
  await add(guest, 'Pearl milk tea')
  await guest.mouse.move(0, 0) // a link under the mouse is darker
  await expect(guest.getByRole('link', { name: /View cart/ })).toHaveCSS('background-color', 'rgb(139, 30, 63)')
  const expectOwnName = async () => {
    expect(await guest.content()).not.toContain('Comanda')
  }
  await expectOwnName()
  await orderCart(guest, /counter/i)
  await expect(guest.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  await expectOwnName()
  for (const path of ['/', '/shop', '/app/welcome', '/app/closed/unknown']) {
    await guest.goto(empty.url + path)
    await expect(guest.getByRole('heading').first()).toBeVisible()
    await expectOwnName()
  }
  const manifest = await guest.locator('link[rel=manifest]').getAttribute('href')
  expect(await (await guest.request.get(new URL(manifest ?? '', empty.url).href)).text()).toMatch(/^(?!.*Comanda).*Quán Hoa/s)
  await guest.context().close()
})

test('an owner edits, copies, archives and restores a branch', async ({ page, empty }) => {
  await page.setViewportSize(sizes.desktop)
  await setUp(empty)
  await enter(page, empty, owner, 'branches')
  await page.getByRole('button', { name: 'Edit Quán Hoa' }).click()
  const form = page.getByRole('dialog', { name: 'Edit Quán Hoa' })
  await form.getByLabel('Name of the restaurant').fill('Quán Hoa Sen')
  await expect(form.getByLabel('A new business day starts at')).toHaveValue('04:00')
  await expect(form.getByRole('button', { name: 'Save' })).toBeInViewport() // the fields scroll, the buttons stay
  await checkAccessibility(page, 'a branch')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('heading', { name: 'Quán Hoa Sen' })).toBeVisible()

  await page.getByRole('button', { name: 'Copy Quán Hoa Sen' }).click()
  const copying = page.getByRole('dialog', { name: 'Copy Quán Hoa Sen' })
  await copying.getByLabel('Name of the restaurant').fill('Quán Hoa Hồ Tây')
  await checkAccessibility(page, 'a branch to copy')
  await copying.getByRole('button', { name: 'Copy' }).click()
  await expect(page.getByRole('heading', { name: 'Quán Hoa Hồ Tây', level: 2 })).toBeVisible()
  await page.getByRole('button', { name: 'Archive Quán Hoa Hồ Tây' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
  await expect(page.getByRole('heading', { name: 'Quán Hoa Hồ Tây', level: 3 })).toBeVisible()
  await page.getByRole('button', { name: 'Restore Quán Hoa Hồ Tây' }).click()
  await expect(page.getByRole('heading', { name: 'Quán Hoa Hồ Tây', level: 2 })).toBeVisible()
})

test('a new branch starts with the menu of another, and takes over a later price', async ({ page, empty }) => {
  await page.setViewportSize(sizes.desktop)
  const { branchId } = await setUp(empty)
  await enter(page, empty, owner, 'branches')
  await page.getByRole('button', { name: 'New branch' }).click()
  const adding = page.getByRole('dialog', { name: 'New branch' })
  await adding.getByLabel('Name of the restaurant').fill('Quán Sen')
  await checkAccessibility(page, 'a new branch')
  await adding.getByRole('button', { name: 'Create branch' }).click()
  await expect(page.getByText('Quán Sen is set up.')).toBeVisible()
  await page.getByRole('link', { name: 'Menus' }).click()
  await page.getByRole('button', { name: 'Copy from branch' }).click()
  const menu = page.getByRole('dialog', { name: 'Copy from another branch' })
  await expect(menu.getByText('New: 24. Changed: 0.')).toBeVisible() // the only other branch is chosen already
  await checkAccessibility(page, 'a menu to copy')
  await menu.getByRole('button', { name: 'Copy' }).click()
  await expect(page.getByText('Added: 24. Changed: 0.')).toBeVisible()
  await expect(page.getByText('Live', { exact: true })).toBeVisible()

  const { items: menus } = await empty.staff<{ items: { id: string }[] }>('GET', `/api/menus?branchId=${branchId}`)
  const { items: dishes } = await empty.staff<{ items: { itemId: string }[] }>('GET', `/api/branches/${branchId}/availability`)
  await empty.price(menus[0]?.id ?? '', dishes[0]?.itemId ?? '', 71_000)
  await page.getByRole('button', { name: 'Copy from branch' }).click()
  await expect(menu.getByText('New: 0. Changed: 1.')).toBeVisible()
  await expect(menu.getByRole('row', { name: /Changed ₫\d\d,000 → ₫71,000/ })).toBeVisible()
  await menu.getByRole('button', { name: 'Copy' }).click()
  await expect(page.getByText('Added: 0. Changed: 1.')).toBeVisible()
  await expect(menu).toHaveCount(0)
  await page.getByRole('button', { name: 'Copy from branch' }).click()
  await expect(menu.getByText('Nothing to copy')).toBeVisible()
  await expect(menu.getByRole('button', { name: 'Copy' })).toBeDisabled()

  // Prices are not copied between currencies.
  await empty.staff('POST', '/api/branches', { name: 'Hoa 台北', country: 'TW' })
  await page.reload()
  await page.getByRole('button', { name: 'Copy from branch' }).click()
  await expect(menu.getByText('Still missing: Branch.')).toBeVisible()
  await menu.getByRole('combobox', { name: 'Branch' }).press('ArrowDown') // opens the list
  await page.getByRole('option', { name: 'Hoa 台北' }).click()
  await expect(menu.getByText('These branches use different currencies')).toBeVisible()
  await expect(menu.getByRole('button', { name: 'Copy' })).toBeDisabled()
})
