import { checkAccessibility } from './accessibility'
import { expect, sitDown, test } from './fixtures'
import { join, logIn } from './member'
import { enter, sizes } from './staff'

test('the manager sees who is here, who is active, and who logged in last', async ({ page, browser, another }) => {
  const server = await another() // other stories bring guests and members, too
  await sitDown(page, server, 'A1')
  await join(server, 'lan@members.example', { firstName: 'Lan', surname: 'Nguyễn' })
  await join(server, 'minh@members.example', { firstName: 'Minh', surname: 'Trần' })
  const phone = await (await browser.newContext({ locale: 'en' })).newPage()
  await logIn(phone, server, 'lan@members.example')

  const { id: branchId, bizDate } = (await server.staff<{ items: { id: string; bizDate: string }[] }>('GET', '/api/branches')).items[0] ?? { id: '', bizDate: '' }
  const online = () => server.staff<{ members: number; branches: { branchId: string; guests: number }[] }>('GET', '/api/reports/online')
  await expect.poll(async () => {
    const here = await online()
    return [here.members, here.branches.find((b) => b.branchId === branchId)?.guests]
  }, { timeout: 20_000 }).toEqual([1, 1])
  const report = await server.staff<{ days: unknown[] }>('GET', `/api/reports/members?branchId=${branchId}&from=${bizDate}&to=${bizDate}`)
  expect(report.days).toEqual([{ date: bizDate, daily: 1, weekly: 1, monthly: 1, returning: 0 }])

  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager', 'today')
  await expect(page.getByRole('link', { name: /Guests here now/ })).toContainText('1 member online')
  await checkAccessibility(page, 'today with the guests who are here')
  await page.getByRole('link', { name: /Guests here now/ }).click()
  await expect(page.getByRole('term').filter({ hasText: 'Guests here now' }).locator('xpath=following-sibling::dd')).toHaveText('1')
  await expect(page.getByRole('term').filter({ hasText: 'Active in 30 days' }).locator('xpath=following-sibling::dd')).toHaveText('1')
  await checkAccessibility(page, 'report of members')

  const console = await (await browser.newContext({ locale: 'en', viewport: sizes.desktop })).newPage()
  await enter(console, server, 'owner', 'users')
  const person = (name: string) => console.getByRole('listitem').filter({ has: console.getByRole('heading', { name }) })
  await expect(person('Lan Nguyễn')).toContainText('Last login')
  await expect(person('Minh Trần')).toContainText('Never logged in')
  await checkAccessibility(console, 'people with their last login')
  await console.context().close()
  await phone.context().close()
})
