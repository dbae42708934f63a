import { readFileSync } from 'node:fs'

import type { Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { password, type Server } from './server'
import { enter, order, sizes } from './staff'

const said = (page: Page, text: string | RegExp) => expect(page.getByText(text).first()).toBeVisible()

/** Selects an entry of a Vuetify select. */
async function choose(page: Page, label: string, entry: string | RegExp): Promise<void> {
  await page.locator('.v-select').filter({ has: page.getByRole('combobox', { name: label }) }).last().click()
  await page.getByRole('option', { name: entry }).click()
  await expect(page.getByRole('option')).toHaveCount(0) // an open list would be taken for the next one
}

/** Sets an account's PIN through its profile. */
async function setPin(page: Page, server: Server, name: string, pin: string): Promise<void> {
  await enter(page, server, name, 'profile')
  await typePin(page, pin)
}

/** Sets the PIN on the profile's page. */
async function typePin(page: Page, pin: string): Promise<void> {
  await page.getByLabel('New PIN').fill(pin)
  await page.locator('form').filter({ hasText: 'Use it to take over' }).getByLabel('Current password').fill(password)
  await page.getByRole('button', { name: 'Set PIN' }).click()
  await said(page, 'PIN set.')
}

async function leave(page: Page): Promise<void> {
  const drawer = page.getByRole('button', { name: 'Show or hide navigation' })
  if ((await drawer.getAttribute('aria-expanded')) === 'false') await drawer.click()
  await page.getByRole('button', { name: 'Log out', exact: true }).click()
  await expect(page).toHaveURL(/login/)
}

test('an administrator creates a role, and a user works with it', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'owner', 'roles')
  await checkAccessibility(page, 'roles')
  await page.getByRole('button', { name: 'New role' }).click()
  await page.getByLabel('Name').fill('Table watcher')
  await page.getByLabel('Description').fill('Sees the tables.')
  await checkAccessibility(page, 'a new role')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('heading', { name: 'Permissions for Table watcher' })).toBeVisible()
  const serve = page.getByRole('checkbox', { name: 'Serve tables', exact: true })
  const cook = page.getByRole('checkbox', { name: 'Cook', exact: true })
  await cook.check()
  await expect(page.getByText('4 changes')).toBeVisible()
  await cook.uncheck()
  await checkAccessibility(page, 'what a role may do')
  await page.getByRole('button', { name: 'Advanced: every permission' }).click()
  await page.getByRole('checkbox', { name: /GET \/api\/tables$/ }).check()
  await expect(serve).toHaveJSProperty('indeterminate', true)
  await page.getByRole('checkbox', { name: 'All permissions for BRANCHES' }).check()
  await page.getByRole('checkbox', { name: /PATCH \/api\/branches/ }).uncheck()
  await expect(page.getByRole('checkbox', { name: 'All permissions for BRANCHES' })).toHaveJSProperty('indeterminate', true)
  await checkAccessibility(page, 'permissions')
  await page.getByRole('button', { name: 'Save' }).click()
  await said(page, 'Permissions for Table watcher saved.')

  await page.goto(`${server.url}/console/users`)
  await page.getByRole('button', { name: 'Add person' }).click()
  await page.getByLabel('E-mail', { exact: true }).last().fill('watcher@demo.example')
  await page.getByRole('dialog').getByLabel('Username').fill('watcher')
  await choose(page, 'Role', /Table watcher/)
  await page.getByLabel('Initial password').fill('short')
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Create' })).toBeDisabled()
  await page.getByLabel('Initial password').fill(password)
  await checkAccessibility(page, 'a new account')
  await page.getByRole('button', { name: 'Create' }).click()
  await said(page, 'watcher can now log in.')
  await checkAccessibility(page, 'people')
  await leave(page)

  await enter(page, server, 'watcher', 'tables')
  await expect(page.getByRole('article', { name: 'Table A1', exact: true })).toBeVisible()
  await expect(page.getByRole('link', { name: 'People' })).toHaveCount(0)
  await page.goto(`${server.url}/console/audit`)
  await expect(page.getByRole('heading', { name: 'No access' })).toBeVisible()
  await leave(page)

  await enter(page, server, 'owner', 'users')
  const row = page.getByRole('listitem').filter({ hasText: 'watcher@demo.example' })
  await row.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
  await expect(row).toContainText('Deactivated')
  await page.goto(`${server.url}/console/audit`)
  await page.getByRole('combobox', { name: 'Action' }).fill('role cr')
  await page.getByRole('option', { name: 'Role created' }).click()
  await expect(page.getByRole('listitem').filter({ hasText: 'created the role Table watcher' })).toHaveCount(1)
  await page.getByText('Before and after').click()
  await expect(page.getByRole('listitem').filter({ hasText: 'Table watcher' })).toHaveCount(1)
  await checkAccessibility(page, 'audit')
})

test('a report shows the figures of its file', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  for (const label of ['A1', 'A2', 'A3']) await order(server, label, 'SANDBOX')
  await order(server, 'A4', 'COUNTER')
  await enter(page, server, 'manager', 'reports/dishes')
  const table = page.getByRole('region', { name: 'Dishes' })
  await expect(table.getByRole('row', { name: /Beef pho/ })).toBeVisible()
  const waiting = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const file = readFileSync(await (await waiting).path(), 'utf8')
  const [names = [], ...rows] = file.replace('\ufeff', '').trim().split('\r\n').map((line) => line.split(','))
  const shown = await table.locator('tbody tr').evaluateAll((all) => all.map((r) => [...r.querySelectorAll('td')].map((d) => d.textContent.trim())))
  const of = (row: string[], name: string) => row[names.indexOf(name)] ?? ''
  expect(rows.map((r) => [of(r, 'rank'), of(r, 'name'), of(r, 'qty')])).toEqual(shown.map((r) => r.slice(0, 3)))
  expect(rows.map((r) => Number(of(r, 'gross')))).toEqual(shown.map((r) => Number(r[3]?.replaceAll(/\D/g, ''))))
  await expect(page.getByRole('img', { name: /^Dishes/ }).locator('canvas')).toBeVisible()

  for (const tab of ['Sales by day', 'Sales by hour', 'Dishes', 'Daily limits', 'Kitchen times', 'Payments', 'Unpaid orders', 'Refunds']) {
    await page.getByRole('tab', { name: tab }).click()
    await expect(page.getByRole('tab', { name: tab })).toHaveAttribute('aria-selected', 'true')
    await expect(page.getByRole('table').or(page.getByText('No data for this period')).first()).toBeVisible()
    await checkAccessibility(page, tab)
  }
  await choose(page, 'Period', 'Yesterday')
  await said(page, 'No data for this period.')
  await page.getByLabel('From').fill('2030-01-01')
  await said(page, 'Choose a range of up to 366 days.')
})

test('on a phone a wide report keeps its days in sight and shows that it goes on', async ({ page, server }) => {
  await page.setViewportSize(sizes.phone)
  await order(server, 'A1', 'SANDBOX')
  await enter(page, server, 'manager', 'reports/sales-days')
  const frame = page.getByRole('region', { name: 'Sales by day', exact: true })
  const place = (name: string | RegExp) => frame.getByRole('columnheader', { name }).first().evaluate((h) => h.getBoundingClientRect().left)
  const first = await place(/.+/)
  const last = await place('Net sales')
  await expect(frame).toHaveCSS('background-image', /linear-gradient.*linear-gradient/)
  await frame.evaluate((f) => {
    f.scrollLeft = f.scrollWidth
  })
  expect(await place('Net sales')).toBeLessThan(last)
  expect(await place(/.+/)).toBe(first)
})

test('an administrator replays a dead letter and runs the checks', async ({ page, server }) => {
  server.deadLetter('0000000000000000000000test1', 'test.nothing')
  server.deadLetter('0000000000000000000000test2', 'test.nothing')
  await page.setViewportSize(sizes.phone)
  await enter(page, server, 'owner', 'system')
  await said(page, 'All systems normal')
  await expect(page.getByRole('link', { name: '2', exact: true })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Events of the last hour' })).toBeVisible()
  await expect(page.getByText('No Redis server: this process keeps the data in its own memory.')).toBeVisible()
  await checkAccessibility(page, 'system')
  await page.getByRole('link', { name: '2', exact: true }).click()
  const letters = page.getByRole('listitem').filter({ hasText: 'test.nothing' })
  await expect(letters).toHaveCount(2)
  await letters.first().getByText('Content').click()
  await expect(letters.first()).toContainText('[redacted]')
  await checkAccessibility(page, 'dead letters')
  await letters.first().getByRole('button', { name: /Retry/ }).click()
  await said(page, '1 event sent again.')
  await expect(letters).toHaveCount(1)
  await page.getByRole('button', { name: 'Retry all' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Retry all' }).click()
  await said(page, 'No failed events.')
  await page.goto(`${server.url}/console/system/checks`)
  for (const name of ['All branches', 'Run check', 'Run check']) {
    const before = await page.getByText('No differences found.').count()
    await page.getByRole('button', { name }).nth(before === 2 ? 1 : 0).click()
    await expect(page.getByText('No differences found.')).toHaveCount(before + 1)
  }
  await expect(page.getByRole('region', { name: 'Largest keys' }).getByRole('row')).not.toHaveCount(0)
  await checkAccessibility(page, 'checks')
})

test('colleagues take over a tablet by PIN', async ({ page, server }) => {
  await page.setViewportSize(sizes.phone)
  await setPin(page, server, 'kitchen', '4071')
  await checkAccessibility(page, 'profile')
  const remove = page.getByRole('button', { name: 'Remove PIN' })
  await remove.click()
  await said(page, 'PIN removed.')
  await expect(remove).toHaveCount(0) // there is none to remove
  await expect(page.getByLabel('New PIN')).toBeFocused()
  await typePin(page, '4071')
  await expect(remove).toBeVisible()
  await leave(page)
  await setPin(page, server, 'staff', '8024')
  await leave(page)

  await enter(page, server, 'manager', 'reports')
  await page.getByRole('button', { name: 'Switch user' }).click()
  const dialog = page.getByRole('dialog')
  await checkAccessibility(page, 'who takes over')
  await dialog.getByRole('button', { name: /Kitchen/ }).click()
  for (const digit of '4072') await dialog.getByRole('button', { name: digit, exact: true }).click()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('alert')).toContainText('Wrong PIN')
  await checkAccessibility(page, 'a PIN')
  for (const digit of '4071') await dialog.getByRole('button', { name: digit, exact: true }).click()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  // The kitchen sees no reports: it is redirected to the board.
  await expect(page).not.toHaveURL(/reports/)
  const back = page.getByRole('button', { name: /^Back to/ })
  await expect(back).toBeVisible()
  await checkAccessibility(page, 'taken over')

  // Switches users by keyboard; a reload keeps the user.
  await page.getByRole('button', { name: 'Switch user' }).click()
  await dialog.getByRole('button', { name: /Waiter/ }).click()
  await page.keyboard.type('8024')
  await page.keyboard.press('Enter')
  await expect(dialog).toHaveCount(0)
  await page.reload()
  await expect(back).toBeVisible()
  await page.goto(`${server.url}/console/reports`)
  await expect(page.getByRole('heading', { name: 'No access' })).toBeVisible()

  await back.click()
  await expect(back).toHaveCount(0)
  await page.goto(`${server.url}/console/reports`)
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible()
  await leave(page)
})
