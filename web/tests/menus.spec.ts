import { checkAccessibility } from './accessibility'
import { expect, sitDown, test } from './fixtures'
import { menuFile } from './menufile'
import type { Server } from './server'
import { enter, owner, setUp, setUpPlain, sizes } from './staff'

interface Named {
  id: string
  name: string
}

/** A restaurant with its menu and a second one, Lunch, with the first dish for less. */
async function withLunch(server: Server): Promise<{ branchId: string; dish: string }> {
  const { branchId } = await setUp(server)
  const lunch = await server.staff<Named>('POST', '/api/menus', { branchId, name: 'Lunch' })
  const draft = await server.staff<Named>('POST', `/api/menus/${lunch.id}/versions`, {})
  const { items: menus } = await server.staff<{ items: (Named & { publishedVersionId: string })[] }>('GET', `/api/menus?branchId=${branchId}`)
  const main = menus.find((m) => m.publishedVersionId)
  const version = await server.staff<{ items: { dishId: string; names: Record<string, string> }[] }>('GET', `/api/menu-versions/${main?.publishedVersionId ?? ''}`)
  const first = version.items[0]
  await server.staff('POST', `/api/menu-versions/${draft.id}/items`, { dishId: first?.dishId, price: 39_000, dailyQuota: null, isActive: true })
  await server.staff('POST', `/api/menu-versions/${draft.id}/publish`)
  return { branchId, dish: first?.names.en ?? '' }
}

test('a manager decides when a menu is offered, and guests see it then', async ({ page, empty, browser }) => {
  const { dish } = await withLunch(empty)
  const phone = await (await browser.newContext({ viewport: sizes.phone, locale: 'en' })).newPage()
  await sitDown(phone, empty, 'A1')
  const card = phone.getByRole('article').filter({ has: phone.getByRole('link', { name: dish, exact: true }) })
  await expect(card, 'without times the older menu sells the dish').not.toContainText('39,000')

  await page.setViewportSize(sizes.desktop)
  await enter(page, empty, owner, 'menus')
  const lunch = page.getByRole('region', { name: 'Lunch' })
  await expect(lunch).toContainText('At all hours')
  await lunch.getByRole('button', { name: 'Times' }).click()
  const form = page.getByRole('dialog', { name: 'When is “Lunch” offered?' })
  await form.getByLabel('At all hours').uncheck()
  const monday = form.getByRole('region', { name: 'Monday' })
  await monday.getByLabel('Monday: from').fill('00:00')
  await monday.getByLabel('Monday: until').fill('23:59')
  await form.getByRole('button', { name: 'Copy to all days' }).click()
  await form.getByRole('textbox', { name: 'From (optional)' }).fill('2026-01-02')
  await form.getByRole('textbox', { name: 'Until and including (optional)' }).fill('2026-01-01')
  await expect(form.getByText('The last day is before the first.')).toBeVisible()
  await checkAccessibility(page, 'the times of a menu')
  await form.getByRole('textbox', { name: 'Until and including (optional)' }).fill('2036-01-01')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(lunch).toContainText('Mon–Sun 00:00–23:59 · from 2026-01-02 until 2036-01-01')

  // Beside the other menu it sells its dish for less, until it ends.
  await expect(card).toContainText('39,000')
  await expect(card).toContainText(/Regular price: ₫[\d,]+/)
  await expect(card).toContainText('until 23:59')
  await expect(phone.getByRole('article')).not.toHaveCount(1)
  await checkAccessibility(phone, 'a dish with a regular price')

  await lunch.getByRole('button', { name: 'Times' }).click()
  await form.locator('.v-select').filter({ has: page.getByRole('combobox', { name: 'Other menus' }) }).click()
  await page.getByRole('option', { name: 'Instead of the other menus' }).click()
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Times of Lunch saved.')).toBeVisible()
  await expect(lunch).toContainText('Mon–Sun 00:00–23:59 · from 2026-01-02 until 2036-01-01 · Instead of the other menus')
  await checkAccessibility(page, 'menus with times')

  // Lunch is offered now, and nothing else.
  await expect(card).toContainText('39,000')
  await expect(phone.getByRole('article')).toHaveCount(1)

  // A menu whose season is over leaves the phone at once, and the other menu is offered again.
  await lunch.getByRole('button', { name: 'Times' }).click()
  await form.getByRole('textbox', { name: 'Until and including (optional)' }).fill('2026-01-03')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(card).not.toContainText('39,000')
  await expect(phone.getByRole('article')).not.toHaveCount(1)

  await lunch.getByRole('button', { name: 'Take off sale' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Take off sale' }).click()
  await expect(page.getByText('Lunch is no longer offered.')).toBeVisible()
  await expect(lunch).toContainText('Not offered: no published version')
})

test('a manager downloads, imports and copies one of several menus', async ({ page, empty }) => {
  const { branchId, dish } = await withLunch(empty)
  await page.setViewportSize(sizes.desktop)
  await enter(page, empty, owner, 'menus')

  // The dish costs 39,000 on one menu only, so the file is that of Lunch.
  await page.getByRole('button', { name: 'Download menu' }).click()
  const waiting = page.waitForEvent('download')
  const answered = page.waitForResponse(/menu\/export/)
  await page.getByRole('listitem').filter({ hasText: /^Lunch$/ }).click()
  await waiting
  const { items: menus } = await empty.staff<{ items: Named[] }>('GET', `/api/menus?branchId=${branchId}`)
  const lunch = menus.find((m) => m.name === 'Lunch')
  expect(new URL((await answered).url()).searchParams.get('menuId')).toBe(lunch?.id)

  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const importing = page.getByRole('dialog', { name: 'Import a menu' })
  await importing.locator('input[type=file]').setInputFiles(menuFile('category,name,price\nTrưa,Cơm trưa,55k\n'))
  await expect(importing.getByText('New: 1. Changed: 0.')).toBeVisible()
  await importing.locator('.v-select').filter({ has: page.getByRole('combobox', { name: 'Menu' }) }).click()
  await page.getByRole('option', { name: 'Lunch' }).click()
  await expect(importing.getByText('New: 1. Changed: 0.')).toBeVisible()
  await checkAccessibility(page, 'a file for one of two menus')
  await importing.getByRole('button', { name: 'Import', exact: true }).click()
  await expect(page.getByText('Added: 1. Changed: 0.')).toBeVisible()
  const lines = async (menu: string | undefined) => {
    const { items } = await empty.staff<{ items: (Named & { publishedVersionId: string })[] }>('GET', `/api/menus?branchId=${branchId}`)
    const version = items.find((m) => m.id === menu)?.publishedVersionId ?? ''
    return (await empty.staff<{ items: { names: Record<string, string> }[] }>('GET', `/api/menu-versions/${version}`)).items.map((i) => i.names.vi)
  }
  expect(await lines(lunch?.id)).toHaveLength(2)
  expect(await lines(lunch?.id)).toContain('Cơm trưa')

  // A new branch gets the lunch menu and nothing else.
  await empty.staff('POST', '/api/branches', { name: 'Quán Sen', country: 'VN' })
  await page.reload()
  await page.locator('header').getByRole('button', { name: 'Quán Hoa' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Quán Sen' }).click()
  await page.getByRole('button', { name: 'Copy from branch' }).click()
  const copying = page.getByRole('dialog', { name: 'Copy from another branch' })
  await copying.locator('.v-select').filter({ has: page.getByRole('combobox', { name: 'Its menu' }) }).click()
  await page.getByRole('option', { name: 'Lunch' }).click()
  await expect(copying.getByText('New: 2. Changed: 0.')).toBeVisible()
  await expect(copying.getByRole('row').filter({ hasText: dish })).toContainText('39,000')
  await checkAccessibility(page, 'one of two menus to copy')
  await copying.getByRole('button', { name: 'Copy' }).click()
  await expect(page.getByText('Added: 2. Changed: 0.')).toBeVisible()
})

test('a copy of a branch says which menus it gets', async ({ page, empty }) => {
  const { branchId } = await withLunch(empty)
  await empty.staff('POST', '/api/menus', { branchId, name: 'Later' }) // not published
  await page.setViewportSize(sizes.desktop)
  await enter(page, empty, owner, 'branches')
  await page.getByRole('button', { name: 'Copy Quán Hoa' }).click()
  const copying = page.getByRole('dialog', { name: 'Copy Quán Hoa' })
  await expect(copying.getByText('2 menus are copied: Menu and Lunch.')).toBeVisible()
  await copying.getByLabel('Name of the restaurant').fill('Quán Sen')
  await checkAccessibility(page, 'a branch with two menus to copy')
  await copying.getByRole('button', { name: 'Copy' }).click()
  await expect(page.getByText('Quán Sen is set up with 2 menus: Menu and Lunch.')).toBeVisible()
})

test('a dish needs the languages of the shown branch only', async ({ page, empty }) => {
  await setUpPlain(empty, ['Oolong'], 30_000)
  await empty.staff('POST', '/api/branches', { name: 'Hoa 台北', country: 'TW', locales: ['zh-TW', 'en'] })
  await page.setViewportSize(sizes.desktop)
  await enter(page, empty, owner, 'dishes')
  await expect(page.getByText('Not translated: Tiếng Việt', { exact: true })).toBeVisible()
  await page.locator('header').getByRole('button', { name: 'Quán Hoa' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Hoa 台北' }).click()
  await expect(page.getByText('Not translated: 繁體中文', { exact: true })).toBeVisible()
})

test('a guest reads when the kitchen serves again', async ({ page, empty }) => {
  const { branchId } = await setUp(empty)
  const { items: menus } = await empty.staff<{ items: Named[] }>('GET', `/api/menus?branchId=${branchId}`)
  await empty.staff('PUT', `/api/menus/${menus[0]?.id ?? ''}/schedule`, {
    weekly: {}, fromDate: '2036-05-01', throughDate: '', kinds: [], priority: 0,
  })
  await page.goto((await empty.table('A1')).link)
  await expect(page.getByText('No menu is available right now. Please ask our staff.')).toBeVisible()
  const tomorrow = new Date(Date.now() + 2 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
  await empty.staff('PUT', `/api/menus/${menus[0]?.id ?? ''}/schedule`, {
    weekly: {}, fromDate: tomorrow, throughDate: '', kinds: [], priority: 0,
  })
  await page.reload()
  await expect(page.getByText(/The kitchen serves again on \w+ at \d\d:\d\d\./)).toBeVisible()
  await checkAccessibility(page, 'a table without a menu')
})
