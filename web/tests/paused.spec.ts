import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { choose, join, logIn, receiver } from './member'

test('a cart of a paused branch says so before the member fills in a form', async ({ page, server }) => {
  await join(server, 'paused@house.example')
  await logIn(page, server, 'paused@house.example')
  await choose(page, 'Chicken pho')
  await server.staff('POST', '/api/branches/1/pause', { until: 'RESTORED', reasonCode: 'BUSY' })
  const notice = page.getByText('The restaurant isn’t taking orders right now. The kitchen is catching up.')
  await page.getByRole('link', { name: /^Cart/ }).click()
  await expect(notice).toBeVisible()
  await checkAccessibility(page, 'the cart of a paused branch')
  await page.getByRole('button', { name: 'Go to checkout' }).click()
  await expect(notice).toHaveCount(2) // above the form and beside the button

  // Paused while the form is filled in: the refusal has the reason too, and goes with the pause.
  await server.staff('POST', '/api/branches/1/resume')
  await page.clock.install()
  await page.reload()
  await receiver(page)
  await expect(notice).toHaveCount(0)
  await server.staff('POST', '/api/branches/1/pause', { until: 'RESTORED', reasonCode: 'BUSY' })
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(notice).toHaveCount(2)
  await server.staff('POST', '/api/branches/1/resume')
  await page.clock.runFor(21_000)
  await expect(page.getByText('The restaurant isn’t taking orders right now.')).toHaveCount(0)
})
