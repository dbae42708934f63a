import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { choose, join, logIn } from './member'

test('a member who reloads without a connection stays logged in', async ({ page, server }) => {
  await join(server, 'tunnel@house.example', { firstName: 'Lan', phone: '0901234567' })
  await logIn(page, server, 'tunnel@house.example')
  await choose(page, 'Chicken pho')
  const requests = (url: URL) => !url.pathname.startsWith('/assets/') // answers of the API, and the test whether the server is back
  const login = page.getByRole('link', { name: 'Log in' })
  for (const path of ['/shop/cart', '/shop/checkout', '/shop/orders', '/shop/account']) {
    await page.goto(server.url + path)
    await page.route(requests, (route) => (route.request().resourceType() === 'document' ? route.continue() : route.abort()))
    await page.reload()
    await expect(page.getByText('Can’t reach the restaurant right now. Please try again.').first(), path).toBeVisible({ timeout: 15_000 })
    await expect(page.getByRole('link', { name: 'My account' })).toBeVisible()
    await expect(login).toHaveCount(0)
    if (path === '/shop/cart') await checkAccessibility(page, 'the cart without a connection')
    await page.unroute(requests)
    await expect(page.getByText('Can’t reach the restaurant right now.'), path).toHaveCount(0, { timeout: 20_000 })
    await expect(page.getByRole('button', { name: /^Notifications/ })).toBeVisible()
    await expect(page).toHaveURL(server.url + path)
    if (path === '/shop/checkout') await expect(page.getByLabel('Phone')).toHaveValue('0901234567')
  }
})
