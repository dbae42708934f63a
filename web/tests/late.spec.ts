import { checkAccessibility } from './accessibility'
import { add, expect, sitDown, test } from './fixtures'

test('an expired order releases its dishes', async ({ page, another }) => {
  const server = await another({ COMANDA_PAYMENT_WINDOW: '3s', COMANDA_EXPIRY_GRACE: '3s' })
  await sitDown(page, server, 'A1')
  await add(page, 'Beef pho', 'no onion')
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  // Between the displayed deadline and the actual one, the guest can do nothing.
  await expect(page.getByRole('heading', { name: 'Time’s up' })).toBeVisible()
  await expect(page.getByRole('button', { name: /test payment|more minutes|another payment|Cancel/ })).toHaveCount(0)
  await expect(page.getByRole('heading', { name: 'Your order timed out' })).toBeVisible({ timeout: 20_000 })
  await checkAccessibility(page, 'expired')
  await page.getByRole('button', { name: 'Add everything back to cart' }).click()
  await expect(page.getByRole('dialog')).toContainText('Note: no onion')
  await expect(page.getByRole('button', { name: 'Order and pay · ₫65,000' })).toBeEnabled()
})

test('a guest can extend the payment deadline twice', async ({ page, another }) => {
  const server = await another({ COMANDA_PAYMENT_WINDOW: '4m30s' })
  await sitDown(page, server, 'A1')
  await add(page, 'Beef pho')
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  const timer = page.getByRole('timer')
  const more = page.getByRole('button', { name: 'I need 5 more minutes' })
  await expect(timer).toHaveText(/^4:/)
  await checkAccessibility(page, 'more time')
  let lost = 0
  await page.route('**/more-time', async (route) => {
    if (lost++ > 0) return route.continue()
    await route.fetch() // the server receives the request, but the phone gets no answer
    return route.abort()
  })
  await more.click()
  await expect(timer).toHaveText(/^9:/)
  await expect(more).toHaveCount(0) // there is enough time left
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  await expect(timer).toHaveCount(0)
  expect(lost).toBe(1)
})

test('LINE Pay’s page leads back to the order', async ({ page, server }) => {
  await sitDown(page, server, 'B2')
  await add(page, 'Braised beef noodle soup')
  await page.getByRole('link', { name: /View cart/ }).click()
  await expect(page.getByRole('radio', { name: /VNPay/ })).toHaveCount(0) // VNPay accepts only dong
  await page.getByRole('radio', { name: /LINE Pay/ }).check()
  await page.getByRole('button', { name: /Order and pay · NT\$220/ }).click()
  await page.waitForURL(/\/sim\/linepay/)
  await page.goBack() // leaving the payment page is no failure
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible()
  await page.getByRole('link', { name: 'Continue to payment' }).click()
  await page.locator('button').first().click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
})

test('the menu needs few requests and few bytes', async ({ page, server }) => {
  // A slow network makes the number of bytes count: at 1.6 Mbit/s, 90 KB take half a second. `make vitals` measures times.
  await page.addInitScript(() => {
    const seen = new MutationObserver(() => {
      if (!document.querySelector('article img')) return
      seen.disconnect()
      const loaded = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
      document.documentElement.dataset.loaded = JSON.stringify(loaded.map((r) => r.transferSize))
    })
    seen.observe(document, { childList: true, subtree: true })
  })
  await page.goto((await server.table('A6')).link, { waitUntil: 'commit' })
  await expect(page.locator('html')).toHaveAttribute('data-loaded', /\d/)
  const sizes = JSON.parse((await page.locator('html').getAttribute('data-loaded')) ?? '[]') as number[]
  expect(sizes.length).toBeGreaterThan(5) // the scripts, the style, the table and its menu
  // 15, and on a busy machine what else has arrived by then, such as pictures.
  expect(sizes.length).toBeLessThan(25)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(90_000)
})
