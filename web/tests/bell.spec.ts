import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { enter, guest, order, sizes } from './staff'

test('staff see a call in the bell and go to its page', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager')
  const placed = await order(server, 'A3', 'SANDBOX')
  await guest(server, `/cis/visit/${placed.visitId}/call`, { reason: 'BILL' }, placed.token)
  const bell = page.getByRole('button', { name: '1 new notification', exact: true })
  await expect(bell).toBeVisible()
  await bell.click()
  const call = page.getByRole('listitem').filter({ hasText: 'Table A3 wants to pay' })
  await expect(call).toBeVisible()
  await checkAccessibility(page, 'the bell of the staff')
  await call.click()
  await expect(page).toHaveURL(/\/console\/tables$/)
  await expect(page.getByRole('button', { name: 'Notifications', exact: true })).toBeVisible()
})
