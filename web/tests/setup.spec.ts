import type { Locator, Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { add, expect, orderCart, test } from './fixtures'
import { expectFocusInside, tabTo } from './keyboard'
import { menuFile, sixty } from './menufile'
import { owner, sizes } from './staff'

/** A step of the page “Getting started”. */
const stepOf = (page: Page, name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })

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
  const step = (name: string) => stepOf(page, name)
  await expect(step('Add tables').getByRole('img', { name: 'To do' })).toBeVisible()
  await checkAccessibility(page, 'getting started')

  await step('Add tables').getByRole('link', { name: 'Go to tables' }).click()
  await page.getByRole('button', { name: 'Add tables' }).click()
  await page.getByRole('dialog').getByLabel('Table names').fill('A1-A3, T1')
  await checkAccessibility(page, 'tables to add')
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
  const choose = (text: string) => dialog.locator('input[type=file]').setInputFiles(menuFile(text))
  await choose('category,name,price\nPhở,Phở bò,cheap\n')
  await expect(dialog.getByText('Row 2, price')).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Import' })).toBeDisabled()
  await checkAccessibility(page, 'an import with a problem')
  await choose(sixty)
  await expect(dialog.getByText('New: 60. Changed: 0.')).toBeVisible()
  await expect(dialog.getByRole('row')).toHaveCount(51)
  await expect(dialog.getByRole('row', { name: 'Beef pho Pho New ₫65,000' })).toBeVisible()
  await expect(dialog.getByText('and 10 more')).toBeVisible()
  await checkAccessibility(page, 'an import')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await expect(page.getByText('Added: 60. Changed: 0.')).toBeVisible()
  await page.getByRole('link', { name: 'Getting started' }).click()
  await expect(step('Publish the menu').getByRole('img', { name: 'Done' })).toBeVisible()

  // The first order is placed with the owner's own phone, which scans the code. This address works on this computer only.
  await expect(page.getByRole('img', { name: 'QR code of table A1' })).toBeVisible()
  await expect.poll(() => page.getByRole('img', { name: 'QR code of table A1' }).evaluate((e: HTMLImageElement) => e.naturalWidth)).toBeGreaterThan(0)
  await expect(page.getByText('Phones can’t open this code yet.')).toBeVisible()
  await checkAccessibility(page, 'the test order')
  const link = await page.getByRole('link', { name: 'Place a test order' }).getAttribute('href')
  const phone = await (await browser.newContext({ viewport: sizes.phone, locale: 'en' })).newPage()
  await phone.goto(link ?? '')
  await add(phone, 'Beef pho')
  await orderCart(phone, /counter/i)
  await expect(page.getByText('It works: the first order has arrived.')).toBeVisible() // while the page is open
  await expect(page.getByRole('region', { name: 'Place a test order' }).getByRole('img', { name: 'Done' })).toBeVisible()
  await expect(step('Print the QR codes').getByRole('img', { name: 'To do' })).toBeVisible() // one code on the screen is no print
  let prints = 0 // reads that the audit log records
  page.on('request', (r) => { if (r.url().includes('/qr-sheet') && !r.url().includes('preview=true')) prints++ })
  await step('Print the QR codes').getByRole('link', { name: 'Print' }).click()
  await expect(page.locator('svg.sheet').first()).toBeVisible()
  expect(prints, 'prints after codes were shown').toBe(0)
  await page.evaluate(() => { window.print = () => { document.title = 'printed' } })
  await page.getByRole('button', { name: 'Print' }).click()
  await expect(page).toHaveTitle('printed')
  expect(prints, 'prints after the button').toBe(1)
  await page.evaluate(() => dispatchEvent(new Event('beforeprint'))) // as the browser's menu does
  await expect.poll(() => prints, 'prints after the browser’s menu').toBe(2)
  await page.goBack()
  await expect(step('Print the QR codes').getByRole('img', { name: 'Done' })).toBeVisible()
  await checkAccessibility(page, 'a set-up with a test order')
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

  // The link works once.
  const other = await (await browser.newContext({ locale: 'en' })).newPage()
  await other.goto(empty.setupLink)
  await expect(other.getByText('This restaurant already has an owner.')).toBeVisible()
  await checkAccessibility(other, 'a set-up that is done')
  await other.context().close()
})

test('an owner sets up a restaurant by keyboard alone', async ({ page, empty, context }) => {
  await page.setViewportSize(sizes.desktop)
  const keys = page.keyboard
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const step = (name: string) => stepOf(page, name)
  const press = async (target: Locator) => {
    await tabTo(page, target)
    await keys.press('Enter')
  }
  // Whichever file dialog the page opens, the user chooses this file.
  page.on('filechooser', (chooser) => chooser.setFiles(menuFile('category,name,price\nBánh,Bánh mì,25k\n')))
  await page.goto(empty.setupLink)
  await tabTo(page, page.getByLabel('Your e-mail'))
  await keys.type(owner)
  await tabTo(page, page.getByLabel('Choose a password'))
  await keys.type('ngoi ben ho uong tra')
  await press(button('Create account'))

  await expect(page.locator('#main')).toBeFocused() // the content of the new page
  await tabTo(page, page.getByLabel('Name of the restaurant'))
  await keys.type('Quán Hoa')
  await press(button('Create restaurant'))
  await expect(page.getByText('What Quán Hoa needs before the first guest can order.')).toBeVisible()

  await press(link('Go to tables'))
  await expect(page.getByRole('heading', { name: 'Tables' })).toBeVisible()
  await expect(page.locator('#main')).toBeFocused()
  const addTables = page.getByRole('dialog', { name: 'Add tables' })
  await press(button('Add tables'))
  await expectFocusInside(addTables)
  await keys.press('Escape')
  await expect(addTables).toHaveCount(0)
  await expect(button('Add tables')).toBeFocused()
  await keys.press('Enter')
  await expectFocusInside(addTables)
  await tabTo(page, addTables.getByLabel('Table names'))
  await keys.type('A1-A3, T1')
  await keys.press('Enter') // sends the form
  await expect(page.getByText('4 tables added.')).toBeVisible()
  await expect(page.getByRole('article')).toHaveCount(4)
  await expect(button('Add tables')).toBeFocused()

  await press(link('Getting started'))
  await expect(step('Add tables').getByRole('img', { name: 'Done' })).toBeVisible()
  await press(button('Start from a template'))
  const ready = page.getByRole('dialog', { name: 'Start from a template' })
  await expectFocusInside(ready)
  await tabTo(page, ready.getByRole('radio', { checked: true }))
  const tea = ready.getByLabel('Bubble tea · 24 dishes')
  for (let i = 0; i < 8 && !(await tea.isChecked()); i++) await keys.press('ArrowDown')
  await expect(tea).toBeFocused()
  await press(button('Use this menu'))
  await expect(page.getByText('24 dishes added.')).toBeVisible()
  await expect(step('Publish the menu').getByRole('img', { name: 'Done' })).toBeVisible()

  // A file can be added to it.
  await press(link('Menus'))
  await press(button('Import'))
  const dialog = page.getByRole('dialog', { name: 'Import a menu' })
  await expectFocusInside(dialog)
  await tabTo(page, dialog.locator('input[type=file]'))
  await keys.press('Enter')
  await expect(dialog.getByText('New: 1. Changed: 0.')).toBeVisible()
  await press(dialog.getByRole('button', { name: 'Import' }))
  await expect(page.getByText('Added: 1. Changed: 0.')).toBeVisible()
  await expect(dialog).toHaveCount(0)
  await expect(button('Import')).toBeFocused()

  await press(link('Getting started'))
  const opened = context.waitForEvent('page')
  await press(link('Place a test order'))
  const guest = await opened
  await expect(guest.getByRole('heading', { name: 'Quán Hoa', level: 1 })).toBeVisible()
  await expect(guest.getByRole('link', { name: 'Pearl milk tea', exact: true })).toBeVisible()
})
