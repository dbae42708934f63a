import { expect, test } from './fixtures'
import { choose, join, logIn } from './member'

test('a cart of a closed branch cannot be ordered, also after a look at another menu', async ({ page, another }) => {
  const server = await another()
  await join(server, 'night@house.example')
  await logIn(page, server, 'night@house.example')
  await choose(page, 'Chicken pho')
  const today = new Date().toLocaleDateString('en', { timeZone: 'Asia/Ho_Chi_Minh', weekday: 'short' }).toLowerCase()
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].filter((d) => d !== today)
  const weekly = Object.fromEntries(days.map((d) => [d, [{ from: '11:00', to: '22:00' }]]))
  await server.staff('PATCH', '/api/branches/1', { openingHours: { weekly, exceptions: [] } })
  const notice = page.getByText(/^We’re closed. We open on \w+ at 11:00\.$/)
  await page.goto(`${server.url}/shop`)
  await expect(notice).toBeVisible()
  await page.getByLabel('Restaurant').selectOption('Comanda 台北')
  await expect(page.getByRole('link', { name: 'Chicken pho', exact: true })).toHaveCount(0)
  await expect(notice).toHaveCount(0)
  await page.getByRole('link', { name: /^Cart/ }).click()
  await expect(notice).toBeVisible()
  await page.getByRole('button', { name: 'Go to checkout' }).click()
  await expect(notice).toHaveCount(2) // above the form and beside the button
  await expect(page.getByRole('button', { name: /Order and pay/ })).toBeDisabled()
})
