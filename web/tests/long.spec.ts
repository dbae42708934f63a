import { expect, test } from './fixtures'
import { enter, sizes } from './staff'

// Long texts, and fields and buttons that stay in line.

const label = 'WWWWWWWWWWWWWWWW'
const dish = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenknödelsuppe'

test('a long label of a table and a long word in a dish leave everything in its place', async ({ page, another }) => {
  const server = await another()
  const { id, link } = await server.table('A6')
  await server.staff('PATCH', `/api/tables/${id}`, { label })
  const { items: dishes } = await server.staff<{ items: { id: string; names: Record<string, string> }[] }>('GET', '/api/dishes?size=100')
  const pho = dishes.find((d) => d.names.en === 'Beef pho')
  await server.staff('PATCH', `/api/dishes/${pho?.id ?? ''}`, { names: { ...pho?.names, en: dish } })

  const expectNoOverflow = () => expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  await page.goto(link)
  const name = page.getByRole('link', { name: dish })
  await expect(name).toBeVisible()
  await expectNoOverflow()
  const card = await page.getByRole('article').filter({ has: name }).evaluate((e) => e.scrollWidth - e.clientWidth)
  expect(card).toBe(0)
  await name.click()
  await expect(page.getByRole('dialog').getByRole('heading', { name: dish })).toBeVisible()
  await expectNoOverflow()

  for (const size of [sizes.phone, sizes.desktop]) {
    await page.setViewportSize(size)
    await enter(page, server, 'manager', 'tables')
    const table = page.getByRole('article', { name: `Table ${label}` })
    await table.getByRole('button', { name: `More actions for table ${label}` }).click({ trial: true }) // it is on the card
    await page.evaluate(() => {
      localStorage.clear()
    })
  }
})

test('fields side by side have the same height, and the buttons of a dialog stay together', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager', 'menus')
  await page.getByRole('button', { name: 'Times' }).click()
  const fields = page.getByRole('dialog').locator('.v-field')
  await expect(fields).toHaveCount(4)
  const heights = await fields.evaluateAll((all) => all.map((f) => Math.round(f.getBoundingClientRect().height)))
  expect(new Set(heights).size, heights.join(' ')).toBe(1)

  await page.setViewportSize(sizes.phone)
  await page.goto(`${server.url}/console/dishes`)
  await page.getByRole('button', { name: 'Beef pho', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Beef pho', exact: true })
  const top = async (name: string) => (await dialog.getByRole('button', { name, exact: true }).boundingBox())?.y
  await expect(dialog.getByText('This dish is on a menu.')).toBeVisible()
  expect(await top('Cancel')).toBe(await top('Save'))
})

test('on a phone, the fields of a row fit beside each other', async ({ page, server }) => {
  await page.setViewportSize(sizes.phone)
  await enter(page, server, 'owner', 'branches')
  await page.getByRole('button', { name: 'Opening hours' }).first().click()
  const hours = page.getByRole('dialog')
  await hours.getByLabel('Open at all hours').uncheck()
  const middle = (b: { y: number; height: number } | null) => Math.round((b?.y ?? 0) + (b?.height ?? 0) / 2)
  const remove = await hours.getByRole('button', { name: 'Monday: remove these hours' }).boundingBox()
  expect(middle(remove)).toBe(middle(await hours.getByLabel('Monday: until').boundingBox()))

  await page.goto(`${server.url}/console/reports`)
  const branch = page.locator('main .v-select__selection-text', { hasText: 'Comanda Hà Nội' })
  expect(await branch.evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0)
})
