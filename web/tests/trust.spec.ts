import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { join } from './member'
import { enter, sizes } from './staff'

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
  await dialog.getByRole('button', { name: 'Add flag' }).click()
  await expect(dialog.getByRole('heading', { name: 'Lan Phạm: trust score 80' })).toBeVisible()
  await expect(dialog.getByRole('listitem')).toContainText('Not picked up')
  await page.setViewportSize(sizes.phone)
  await checkAccessibility(page, 'the flags of a member')
  await page.setViewportSize(sizes.desktop)
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect(row).toContainText('Trust 80')

  await row.getByRole('button', { name: 'Flags' }).click()
  await dialog.getByRole('button', { name: /^Remove: Not picked up/ }).click()
  await expect(dialog.getByRole('heading', { name: 'Lan Phạm: trust score 100' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect(row).not.toContainText('Trust')
})
