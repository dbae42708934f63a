import type { Page } from '@playwright/test'

import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { password } from './server'
import { enter, post } from './staff'

test.describe('in a browser in Chinese', () => {
  test.use({ locale: 'zh-TW' })

  test('a form that is not complete says so at its fields in the language of the app', async ({ page, server }) => {
    await page.goto(`${server.url}/shop/register`)
    await page.getByRole('button', { name: '建立帳號' }).click()
    const email = page.getByLabel('電子郵件', { exact: true })
    await expect(email).toBeFocused()
    await expect(email).toHaveAccessibleDescription('請填寫此欄位。')
    await email.fill('mei')
    await expect(email).toHaveAccessibleDescription('請輸入有效的電子郵件。')
    await email.fill('mei@house.example')
    await expect(email).toHaveAccessibleDescription('')
    await checkAccessibility(page, 'a form with messages')

    await page.goto(`${server.url}/console/`)
    const name = page.getByLabel('電子郵件或使用者名稱')
    await page.getByRole('button', { name: '登入' }).click()
    await expect(name).toBeFocused()
    await expect(name).toHaveAccessibleDescription('請填寫此欄位。')
    await checkAccessibility(page, 'the login with messages')
  })

  test('a profile asks for the family name first', async ({ page, server }) => {
    await page.goto(`${server.url}/console/profile`)
    await page.getByLabel('電子郵件或使用者名稱').fill('cashier')
    await page.getByLabel('密碼', { exact: true }).fill(password)
    await page.getByRole('button', { name: '登入' }).click()
    expect(await order(page, '姓氏', '名字')).toBeLessThan(0)
  })
})

/** The distance between two fields from the top of the page: negative if the first is above the second. */
async function order(page: Page, first: string, second: string): Promise<number> {
  const top = async (label: string) => (await page.getByLabel(label, { exact: true }).boundingBox())?.y ?? NaN
  return (await top(first)) - (await top(second))
}

test('a blocked PIN is named in the profile, and can be removed', async ({ page, another }) => {
  const server = await another() // other tests count the sessions of these accounts
  const login = (username: string) => post<{ accessToken: string; user: { id: string } }>(server, '/auth/login', { username, password })
  const [cook, colleague] = [await login('kitchen'), await login('staff')]
  const set = await fetch(`${server.url}/me/pin`, {
    method: 'PUT', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${cook.accessToken}` }, body: JSON.stringify({ password, pin: '4071' }),
  })
  expect(set.ok).toBe(true)
  for (let i = 0; i < 10; i++) await expect(post(server, '/auth/pin', { userId: cook.user.id, pin: '4072' }, colleague.accessToken)).rejects.toThrow()

  await enter(page, server, 'kitchen', 'profile')
  const notice = page.getByText('Your PIN is blocked after too many wrong attempts. Set a new one.')
  await expect(notice).toBeVisible()
  await checkAccessibility(page, 'a blocked PIN')
  await page.getByRole('button', { name: 'Remove PIN' }).click()
  await expect(notice).toHaveCount(0)
})

test('each choice of a group looks like a button', async ({ page, server }) => {
  await enter(page, server, 'kitchen', 'availability')
  const choices = page.getByRole('group', { name: 'Show' }).getByRole('button')
  await expect(choices).toHaveCount(3)
  for (const choice of await choices.all()) await expect(choice).not.toHaveCSS('border-top-width', '0px')

  // The longest language fits on a small phone.
  await page.setViewportSize({ width: 360, height: 740 })
  await page.evaluate(() => dispatchEvent(new StorageEvent('storage', { key: 'comanda.staff.language', newValue: 'vi' })))
  const group = page.getByRole('group', { name: 'Hiển thị' })
  await expect(group).toBeVisible()
  expect(await group.evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0)
})

test('a price can be tried on a small phone', async ({ page, server }) => {
  await page.setViewportSize({ width: 360, height: 740 })
  await enter(page, server, 'owner', 'taxes')
  const dish = page.getByText('Beef pho · ₫65,000').first()
  await expect(dish).toBeVisible()
  expect(await dish.evaluate((e) => e.scrollWidth - e.clientWidth)).toBeLessThanOrEqual(0)
})
