import { checkAccessibility } from './accessibility'
import { add, expect, orderCart, sitDown, test } from './fixtures'

test('the headline of an order shows its current state', async ({ page, context, server }) => {
  await context.grantPermissions(['notifications'])
  await sitDown(page, server, 'A3')
  await add(page, 'Bun cha')
  await orderCart(page)
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  await page.getByRole('button', { name: 'Tell me when it’s ready' }).click()
  await expect(page.getByText('We’ll notify you when your order is ready.')).toBeVisible()
  const progress = page.getByRole('list', { name: 'Order status' }).getByRole('listitem')
  await expect(progress.last()).toHaveText('Up next: the kitchen starts cooking')
  const id = page.url().split('/').at(-1) ?? ''
  for (const [step, heading, next] of [
    ['accept', 'The kitchen has your order', 'Up next: the kitchen starts cooking'],
    ['start', 'Your food is being prepared', 'Up next: ready'],
    ['ready', 'Your order is ready', 'On its way to you'],
    ['serve', 'Enjoy your meal!', /^Served/],
  ] as const) {
    await server.staff('POST', `/api/orders/${id}/${step}`)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading)
    await expect(progress.last()).toHaveText(next)
    await checkAccessibility(page, heading)
  }
  await server.staff('POST', `/api/orders/${id}/refunds`, { reason: 'cold' })
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/refund/)
  await checkAccessibility(page, 'a refund')
})
