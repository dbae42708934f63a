import { checkAccessibility } from './accessibility'
import { add, expect, orderCart, test } from './fixtures'
import { sizes } from './staff'

// An owner starts without the demo: from the link in the terminal to the first paid order, using only the browser.
test('an owner sets up a restaurant and takes the first paid order', async ({ page, empty, browser }) => {
  test.setTimeout(240_000) // it checks ten screens in three languages and two themes
  await page.setViewportSize(sizes.desktop)
  await page.goto(`${empty.url}/console/`)
  await expect(page.getByText('Open the link shown in its terminal')).toBeVisible()
  await page.goto(empty.setupLink)
  await expect(page).toHaveURL(`${empty.url}/console/setup`) // the code is removed from the address
  await checkAccessibility(page, 'set-up')
  await page.getByLabel('Your e-mail').fill('hoa@quanhoa.vn')
  await page.getByLabel('Choose a password').fill('ngoi ben ho uong tra')
  await page.getByRole('button', { name: 'Create account' }).click()

  await page.getByLabel('Name of the restaurant').fill('Quán Hoa')
  await checkAccessibility(page, 'the first restaurant')
  await page.getByRole('button', { name: 'Create restaurant' }).click()
  await expect(page.getByText('What Quán Hoa needs before the first guest can order.')).toBeVisible()
  const step = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
  await expect(step('Add tables').getByRole('img', { name: 'To do' })).toBeVisible()
  await checkAccessibility(page, 'getting started')

  await step('Add tables').getByRole('link', { name: 'Go to tables' }).click()
  await page.getByRole('button', { name: 'Add tables' }).click()
  await page.getByRole('dialog').getByLabel('Table names').fill('A1-A3, T1')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('4 tables added.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'A3' })).toBeVisible()
  await page.getByRole('link', { name: 'Getting started' }).click()
  await expect(step('Add tables').getByRole('img', { name: 'Done' })).toBeVisible()

  await step('Publish the menu').getByRole('button', { name: 'Start from a template' }).click()
  const ready = page.getByRole('dialog', { name: 'Start from a template' })
  await ready.getByLabel('Bubble tea · 24 dishes').check()
  await expect(ready.getByRole('region', { name: 'Dishes of Bubble tea' }).getByRole('listitem').first()).toContainText('Pearl milk tea')
  await checkAccessibility(page, 'a menu template')
  await ready.getByRole('button', { name: 'Cancel' }).click()
  await step('Publish the menu').getByRole('button', { name: 'From a file' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import a menu' })
  const choose = (text: string) => dialog.locator('input[type=file]').setInputFiles({ name: 'menu.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  await choose('category,name,price\nPhở,Phở bò,cheap\n')
  await expect(dialog.getByText('Row 2, price')).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Import' })).toBeDisabled()
  await checkAccessibility(page, 'an import with a problem')
  const others = Array.from({ length: 59 }, (_, i) => `Món khác,Món số ${String(i + 1)},${String(20 + i)}k,Other,Dish ${String(i + 1)}\n`)
  await choose(`category,name,price,category:en,name:en\nPhở,Phở bò,65k,Pho,Beef pho\n${others.join('')}`)
  await expect(dialog.getByText('New: 60. Changed: 0.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Import' }).click()
  await expect(page.getByText('Added: 60. Changed: 0.')).toBeVisible()
  await page.getByRole('link', { name: 'Getting started' }).click()
  await expect(step('Publish the menu').getByRole('img', { name: 'Done' })).toBeVisible()

  // The first order is placed with the owner's own phone.
  const link = await page.getByRole('link', { name: 'Place a test order' }).getAttribute('href')
  const phone = await (await browser.newContext({ viewport: sizes.phone, locale: 'en' })).newPage()
  await phone.goto(link ?? '')
  await add(phone, 'Beef pho')
  await orderCart(phone, /counter/i)
  await page.getByRole('link', { name: 'Counter' }).click()
  await page.getByRole('button', { name: 'Take cash' }).click()
  await page.getByRole('dialog').getByLabel('Cash received').fill('65000')
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm payment' }).click()
  await page.getByRole('link', { name: 'Order board' }).click()
  await expect(page.getByText('Phở bò')).toBeVisible()
  await phone.context().close()
  await page.goto(`${empty.url}/console/`)
  await expect(page).toHaveURL(/\/console\/today$/) // the owner's start page
  await expect(page.getByText('1 paid order', { exact: true })).toBeVisible()
  await expect(page.getByText('₫65,000', { exact: true })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Make it reachable from phones' })).toBeVisible() // the remaining step of the set-up
  await checkAccessibility(page, 'today')

  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await expect(page.getByText('Set by COMANDA_PUBLIC_URL')).toBeVisible() // the environment wins
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
  const mail = page.locator('form').filter({ hasText: 'Sends verification codes and confirmations.' })
  await mail.getByRole('button', { name: 'Test connection' }).click()
  await expect(mail.getByText('Nothing to test yet. Fill in the fields and save.')).toBeVisible()
  await checkAccessibility(page, 'settings')

  await page.getByRole('link', { name: 'Branches' }).click()
  await page.getByRole('button', { name: 'Edit Quán Hoa' }).click()
  const form = page.getByRole('dialog', { name: 'Edit Quán Hoa' })
  await form.getByLabel('Name of the restaurant').fill('Quán Hoa Sen')
  await checkAccessibility(page, 'a branch')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('heading', { name: 'Quán Hoa Sen' })).toBeVisible()

  await page.getByRole('button', { name: 'Opening hours of Quán Hoa Sen' }).click()
  const hours = page.getByRole('dialog', { name: 'Opening hours of Quán Hoa Sen' })
  await hours.getByLabel('Open at all hours').uncheck()
  await hours.getByRole('button', { name: 'Monday: add hours' }).click()
  await checkAccessibility(page, 'opening hours')
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'Brand' }).click()
  await page.getByLabel('Accent colour').first().fill('#ffe08a')
  await expect(page.getByText('Too pale for light screens.')).toBeVisible()
  await checkAccessibility(page, 'brand')

  // The link works once.
  const other = await (await browser.newContext({ locale: 'en' })).newPage()
  await other.goto(empty.setupLink)
  await expect(other.getByText('This restaurant already has an owner.')).toBeVisible()
  await other.context().close()
})

// The code works once. The account exists although the page does not know it, and the second press logs in.
test('an owner whose account was created without an answer logs in by pressing again', async ({ page, empty }) => {
  await page.goto(empty.setupLink)
  await page.getByLabel('Your e-mail').fill('hoa@quanhoa.vn')
  await page.getByLabel('Choose a password').fill('ngoi ben ho uong tra')
  let lost = 0
  await page.route('**/auth/setup', async (route) => {
    if (route.request().method() !== 'POST' || lost++ > 0) return route.continue()
    await route.fetch()
    return route.abort()
  })
  const create = page.getByRole('button', { name: 'Create account' })
  await create.click()
  await expect(page.getByText('Can’t reach the server')).toBeVisible()
  await page.getByLabel('Choose a password').fill('another password than before')
  await create.click()
  await expect(page.getByText('This link is no longer valid')).toBeVisible() // another person may have used it
  await page.getByLabel('Choose a password').fill('ngoi ben ho uong tra')
  await create.click()
  await expect(page.getByLabel('Name of the restaurant')).toBeVisible()
  expect(lost).toBe(3)
})

// The server is killed at every step. The owner presses the same button again, and nothing is created twice.
test('a set-up continues after the server was killed', async ({ page, empty }) => {
  await page.setViewportSize(sizes.phone)
  const killed = async (press: () => Promise<void>) => {
    await empty.stop('SIGKILL')
    await press()
    await expect(page.getByText('Can’t reach the server').or(page.getByText('No connection')).first()).toBeVisible()
    await empty.start()
    await press()
  }
  await page.goto(empty.setupLink)
  await page.getByLabel('Your e-mail').fill('hoa@quanhoa.vn')
  await page.getByLabel('Choose a password').fill('ngoi ben ho uong tra')
  await killed(() => page.getByRole('button', { name: 'Create account' }).click())
  await expect(page.getByLabel('Name of the restaurant')).toBeVisible()

  await page.getByLabel('Name of the restaurant').fill('Quán Hoa')
  await killed(() => page.getByRole('button', { name: 'Create restaurant' }).click())
  await expect(page.getByText('What Quán Hoa needs before the first guest can order.')).toBeVisible()

  await page.getByRole('link', { name: 'Go to tables' }).click()
  await page.getByRole('button', { name: 'Add tables' }).click()
  await page.getByRole('dialog').getByLabel('Table names').fill('A1-A3')
  await killed(() => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click())
  await expect(page.getByText('3 tables added.')).toBeVisible()

  // The console is reloaded while the server is unreachable, and recovers by itself.
  await page.goto(`${empty.url}/console/branches`)
  await page.evaluate(async () => navigator.serviceWorker.ready) // registered when the app starts
  await expect(page.getByRole('heading', { name: 'Quán Hoa' })).toHaveCount(1)
  await empty.stop('SIGKILL')
  await page.reload()
  await expect(page.getByText('Can’t reach the server')).toBeVisible()
  await empty.start()
  await expect(page.getByRole('heading', { name: 'Quán Hoa' })).toHaveCount(1)
})
