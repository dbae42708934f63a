import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { codeFor } from './member'
import { password, type Server } from './server'
import { enter, post, sizes } from './staff'

test('a session that ends keeps an open dialog with its text until the next login', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager', 'stock')
  await page.getByRole('button', { name: 'New item' }).click()
  const item = page.getByRole('dialog', { name: 'New item' })
  await item.getByLabel('Item number').fill('lotus-tea')
  await item.getByLabel('Name', { exact: true }).fill('Trà sen Tây Hồ')
  await endSessions(server, 'manager')
  const again = page.getByRole('dialog', { name: 'Your session has ended' })
  await expect(again).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(again).toBeVisible()
  await checkAccessibility(page, 'a session that has ended')
  await again.getByLabel('Password').fill('wrong')
  await page.keyboard.press('Enter')
  await expect(again.getByText('Wrong e-mail or password.')).toBeVisible()
  await again.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await expect(again).toHaveCount(0)
  await expect(item.getByLabel('Name', { exact: true })).toBeFocused()
  await expect(item.getByLabel('Name', { exact: true })).toHaveValue('Trà sen Tây Hồ')
  await page.keyboard.press('Enter')
  await expect(page.getByText('lotus-tea')).toBeVisible()

  await endSessions(server, 'manager')
  await again.getByRole('button', { name: 'Use another account' }).click()
  await expect(page).toHaveURL(/login\?back=\/stock/)
})

test('staff who have forgotten the password set a new one with a code, and come back to the console', async ({ page, another }) => {
  const server = await another()
  await page.goto(`${server.url}/console/login`)
  await checkAccessibility(page, 'the login of the console')
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await page.getByLabel('E-mail', { exact: true }).fill('cashier@demo.example')
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByLabel('Code from the e-mail').fill(await codeFor(server, 'cashier@demo.example'))
  await page.getByLabel('New password').fill('three pots tea')
  await page.getByRole('button', { name: 'Set new password' }).click()
  await expect(page.getByText('Use 15 to 128 characters.')).toBeVisible()
  await page.getByLabel('New password').fill('three pots of lotus tea')
  await page.getByRole('button', { name: 'Set new password' }).click()
  await expect(page.getByRole('heading', { name: 'Your new password is set' })).toBeFocused()
  await page.getByRole('link', { name: 'Log in' }).last().click()
  await page.getByLabel('E-mail or username').fill('cashier')
  await page.getByLabel('Password', { exact: true }).fill('three pots of lotus tea')
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page).toHaveURL(/\/console\/(?!login)/)
})

/** Ends the sessions of an account on all devices. */
async function endSessions(server: Server, username: string): Promise<void> {
  const { accessToken } = await post<{ accessToken: string }>(server, '/auth/login', { username, password })
  const headers = { Authorization: `Bearer ${accessToken}` }
  const sessions = (await (await fetch(`${server.url}/me/sessions`, { headers })).json()) as { items: { id: string; current: boolean }[] }
  for (const { id } of sessions.items.filter((s) => !s.current)) await fetch(`${server.url}/me/sessions/${id}`, { method: 'DELETE', headers })
}
