import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { join } from './member'
import { password } from './server'
import { enter, post, sizes } from './staff'

test('an owner flags a member who did not come, and removes the flag', async ({ page, server }) => {
  await join(server, 'lan.trust@guests.example', { firstName: 'Lan', surname: 'Phạm' })
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'owner', 'users')
  await page.getByRole('searchbox', { name: 'Name, e-mail or phone' }).fill('lan.trust@guests.example')
  const row = page.getByRole('listitem').filter({ hasText: 'Lan Phạm' })
  await expect(row).toBeVisible()
  await expect(row).not.toContainText('Trust')
  await row.getByRole('button', { name: 'Flags' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('No flags.')).toBeVisible()
  await dialog.getByLabel('Note').fill('Waited until closing time.')
  await page.clock.install()
  await dialog.getByRole('button', { name: 'Add flag' }).click()
  await expect(dialog.getByRole('heading', { name: 'Lan Phạm: trust score 80' })).toBeVisible()
  await expect(dialog.getByRole('listitem')).toContainText('Not picked up')
  await page.setViewportSize(sizes.phone)
  await checkAccessibility(page, 'the flags of a member')
  await page.setViewportSize(sizes.desktop)
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect(row).toContainText('Trust 80')

  // A notice is shown for its whole time, even if it follows another one.
  await page.clock.fastForward(5000)
  await expect(page.getByText('Flag added')).toHaveCount(0)
  await row.getByRole('button', { name: 'Flags' }).click()
  await dialog.getByLabel('Note').fill('Once more.')
  await dialog.getByRole('button', { name: 'Add flag' }).click()
  await expect(page.getByText('Flag added')).toBeVisible()
  await expect(dialog.getByRole('listitem')).toHaveCount(2)
  await page.clock.fastForward(3000)
  await dialog.getByRole('button', { name: /^Remove: Not picked up/ }).first().click()
  await expect(page.getByText('Flag removed')).toBeVisible()
  await page.clock.fastForward(2000)
  await expect(page.getByText('Flag removed')).toBeVisible()
  await expect(dialog.getByRole('listitem')).toHaveCount(1)
  await dialog.getByRole('button', { name: /^Remove: Not picked up/ }).click()
  await expect(dialog.getByRole('heading', { name: 'Lan Phạm: trust score 100' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect(row).not.toContainText('Trust')
})

test('the flags of a member have pages', async ({ page, server }) => {
  await join(server, 'minh.trust@guests.example', { firstName: 'Minh', surname: 'Trần' })
  const { accessToken } = await post<{ accessToken: string }>(server, '/auth/login', { username: 'owner', password })
  const found = await fetch(`${server.url}/api/users?email=minh.trust@guests.example`, { headers: { Authorization: `Bearer ${accessToken}` } })
  const { items: [minh] } = (await found.json()) as { items: { id: string }[] }
  for (let n = 1; n <= 21; n++) await post(server, `/api/users/${minh?.id ?? ''}/flags`, { kind: 'NO_SHOW', note: `Evening ${String(n)}` }, accessToken)

  await page.setViewportSize(sizes.phone)
  await enter(page, server, 'owner', 'users')
  await page.getByRole('searchbox', { name: 'Name, e-mail or phone' }).fill('minh.trust@guests.example')
  await page.getByRole('listitem').filter({ hasText: 'Minh Trần' }).getByRole('button', { name: 'Flags' }).click()
  const dialog = page.getByRole('dialog')
  const flags = dialog.getByRole('list', { name: 'Flags' }).getByRole('listitem')
  await expect(flags).toHaveCount(20)
  await expect(flags.first()).toContainText('Evening 21')
  await checkAccessibility(page, 'a page of flags')
  await dialog.getByRole('button', { name: 'Go to page 2' }).click()
  await expect(flags).toHaveCount(1)
  await expect(flags).toContainText('Evening 1')

  // A new flag is on the first page. If the last flag of a page is removed, the page before it is shown.
  await dialog.getByLabel('Note').fill('Evening 22')
  await dialog.getByRole('button', { name: 'Add flag' }).click()
  await expect(flags.first()).toContainText('Evening 22')
  await dialog.getByRole('button', { name: 'Go to page 2' }).click()
  await expect(flags).toHaveCount(2)
  for (const left of [1, 20]) {
    await dialog.getByRole('button', { name: /^Remove: Not picked up/ }).first().click()
    await expect(flags).toHaveCount(left)
  }
  await expect(flags.first()).toContainText('Evening 22')
  await expect(dialog.getByRole('button', { name: 'Go to page 2' })).toHaveCount(0)
})
