import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { join, logIn, password } from './member'
import type { Server } from './server'
import { enter, sizes } from './staff'

test('an owner chooses a group, downloads it and writes to those who agree', async ({ page, server }) => {
  await join(server, 'hanh.news@guests.example', { firstName: 'Hạnh', surname: 'Vũ', city: 'Đà Lạt' })
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'owner', 'mailings')
  await expect(page.getByText(/^\d+ members?$/)).toBeVisible()
  await page.getByLabel('City').fill('Đà Lạt')
  await expect(page.getByText('1 member', { exact: true })).toBeVisible()
  await expect(page.getByText('0 agreed to news')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Write e-mail' })).toBeDisabled()
  await page.getByLabel('Days inactive').fill('500')
  await expect(page.getByText('Enter 1 to 400 days.')).toBeVisible()
  await page.getByLabel('Days inactive').fill('')

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  expect((await download).suggestedFilename()).toBe('members.csv')
  await page.setViewportSize(sizes.phone)
  await checkAccessibility(page, 'groups and e-mails')
  await page.setViewportSize(sizes.desktop)

  await agree(server, 'hanh.news@guests.example')
  await page.reload()
  await page.getByLabel('City').fill('Đà Lạt')
  await expect(page.getByText('1 agreed to news')).toBeVisible()
  await page.getByRole('button', { name: 'Write e-mail' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('button', { name: 'Send to 1' })).toBeDisabled()
  await dialog.getByLabel('Subject').fill('Món mới')
  await dialog.getByLabel('Text').fill('Bún chả từ thứ Hai.\n\nMời bạn!')
  await expect(dialog.getByText('Written in: Tiếng Việt.')).toBeVisible()
  await page.setViewportSize(sizes.phone)
  await checkAccessibility(page, 'an e-mail to members')
  await page.setViewportSize(sizes.desktop)
  await dialog.getByRole('button', { name: 'Send to 1' }).click()
  // The server of these tests has no mail server. What was typed stays.
  await expect(page.getByText('Set up the mail server under Settings.')).toBeVisible()
  await expect(dialog.getByLabel('Subject')).toHaveValue('Món mới')
})

test('a member agrees to news, and a link that is not whole says so', async ({ page, server }) => {
  await join(server, 'minh.news@guests.example')
  await logIn(page, server, 'minh.news@guests.example', '/shop/account')
  const news = page.getByLabel('E-mail me news and offers.')
  await expect(news).not.toBeChecked()
  await news.check()
  await page.locator('form').filter({ has: news }).getByRole('button', { name: 'Save' }).click()
  await page.reload()
  await expect(page.getByLabel('E-mail me news and offers.')).toBeChecked()
  await page.goto(`${server.url}/auth/unsubscribe/1.x`)
  await page.setViewportSize(sizes.phone)
  await page.getByRole('button', { name: 'Unsubscribe' }).click()
  await expect(page.getByRole('alert')).toHaveText('This link doesn’t work. You can unsubscribe in your account.')
  await expect(page.getByRole('main').getByRole('link', { name: 'My account' })).toHaveAttribute('href', '/shop/account')
  await checkAccessibility(page, 'unsubscribing')
})

/** Agrees to news as a member. */
async function agree(server: Server, email: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  const login = await fetch(`${server.url}/auth/login`, { method: 'POST', headers, body: JSON.stringify({ email, password }) })
  const { accessToken } = (await login.json()) as { accessToken: string }
  const choices = { orderReceived: true, orderReady: true, news: true }
  const done = await fetch(`${server.url}/me/mail`, {
    method: 'PUT', headers: { ...headers, Authorization: `Bearer ${accessToken}` }, body: JSON.stringify(choices),
  })
  expect(done.ok).toBe(true)
}
