import { checkAccessibility } from './accessibility'
import { expect, sitDown, test } from './fixtures'
import type { Server } from './server'
import { enter, sizes } from './staff'

/** Searches for a text in five visits, as five tables do. */
async function searchFive(server: Server, text: string): Promise<void> {
  for (const label of ['A2', 'A3', 'A4', 'A5', 'A6']) {
    const qr = (await server.table(label)).link.split('/').at(-1)
    const post = (path: string, body: unknown, headers = {}) => fetch(server.url + path, {
      method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body),
    })
    const { customerToken } = (await (await post('/cis/landing', { qr })).json()) as { customerToken: string }
    const sent = await post('/cis/views', { searches: [text] }, { 'X-Customer-Token': customerToken })
    expect(sent.status).toBe(204)
  }
}

test('a guest searches for what the restaurant lacks, and its manager reads it', async ({ page, another }) => {
  const server = await another() // other stories search, too
  await sitDown(page, server, 'A1')
  const field = page.getByRole('searchbox')
  await field.click()
  await expect(page.getByRole('group', { name: 'Guests also search for' })).toHaveCount(0)

  const reported = page.waitForRequest((r) => r.url().endsWith('/cis/views') && (r.postData() ?? '').includes('banh khong co'))
  await field.pressSequentially('banh khong co', { delay: 20 })
  await expect(page.getByText('No dishes match “banh khong co”.')).toBeVisible()
  expect(((await reported).postDataJSON() as { searches: string[] }).searches).toEqual(['banh khong co'])
  await page.getByRole('button', { name: 'Clear search' }).click()

  // An accent, a capital or a different word does not hide a dish.
  await field.fill('PHO')
  await expect(page.getByRole('article').first()).toContainText('pho', { ignoreCase: true })

  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager', 'reports/searches')
  const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'banh khong co' }) }).first()
  await expect(async () => {
    await page.reload()
    await expect(row).toBeVisible({ timeout: 2000 })
  }).toPass()
  await expect(row.getByRole('cell')).toHaveText(['banh khong co', '1', '1'])
  await expect(page.getByRole('heading', { name: 'Searched for and not found' })).toBeVisible()
  await checkAccessibility(page, 'report of searches')
})

test('a guest is offered what others search for', async ({ page, another }) => {
  const server = await another()
  await searchFive(server, 'pho')
  const { id, bizDate } = (await server.staff<{ items: { id: string; bizDate: string }[] }>('GET', '/api/branches')).items[0] ?? { id: '', bizDate: '' }
  const report = `/api/reports/searches?branchId=${id}&from=${bizDate}&to=${bizDate}`
  const searches = async () => (await server.staff<{ totals: { searches: number } }>('GET', report)).totals.searches
  await expect.poll(searches, { timeout: 20_000 }).toBe(5) // they are added every few seconds
  await sitDown(page, server, 'A1')
  const field = page.getByRole('searchbox')
  const hints = page.getByRole('group', { name: 'Guests also search for' })
  await expect(hints).toHaveCount(0)
  await field.click()
  await expect(hints.getByRole('button')).toHaveText(/^pho$/i)
  await checkAccessibility(page, 'suggested searches')

  await hints.getByRole('button').press('Enter')
  await expect(field).toBeFocused()
  await expect(field).toHaveValue(/^pho$/i)
  await expect(hints).toHaveCount(0) // it is what was typed
  await expect(page.getByRole('article').first()).toContainText('pho', { ignoreCase: true })

  await field.fill('xyz')
  await expect(hints.getByRole('button')).toHaveText(/^pho$/i)
  await checkAccessibility(page, 'suggestions instead of results')
})
