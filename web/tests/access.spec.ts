import { checkAccessibility } from './accessibility'
import { add, expect, sitDown, test } from './fixtures'

test('accessibility: from the table to the cart', async ({ page, server }) => {
  await server.quota('13', 2)
  await server.quota('8', 0)
  await sitDown(page, server, 'A5')
  await expect(page.getByText('Only 2 left')).toBeVisible()
  await expect(page.getByText('Sold out')).toBeVisible()
  await checkAccessibility(page, 'menu')
  await page.getByRole('link', { name: 'Fried spring rolls', exact: true }).click()
  await expect(page.getByRole('dialog').getByRole('button', { name: /^Add/ })).toBeDisabled()
  await checkAccessibility(page, 'a dish that is sold out')
  await page.getByRole('button', { name: 'Close' }).click()
  await add(page, 'Wok-seared beef pho', 'no garlic')
  await add(page, 'Beef pho')
  await server.quota('13', 0)
  await expect(page.getByRole('alert')).toContainText('just sold out')
  await page.getByRole('link', { name: /View cart/ }).click()
  await checkAccessibility(page, 'a cart with something sold out')
  await page.getByRole('button', { name: 'Remove Wok-seared beef pho' }).click()
  await checkAccessibility(page, 'a cart that can be ordered')
})

test('accessibility: an order that waits, fails, expires and is paid', async ({ page, server }) => {
  await sitDown(page, server, 'A4')
  await add(page, 'Beef pho')
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('timer')).toBeVisible()
  await checkAccessibility(page, 'waiting')
  await page.getByRole('button', { name: 'Simulate a failure' }).click()
  await expect(page.getByRole('heading', { name: 'Payment didn’t go through' })).toBeVisible()
  await checkAccessibility(page, 'failed')
  await page.getByRole('button', { name: 'Cancel this order' }).click()
  await checkAccessibility(page, 'cancel?')
  await page.getByRole('button', { name: 'Keep the order' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByRole('button', { name: 'Cancel this order' }).click()
  await page.getByRole('button', { name: 'Yes, cancel it' }).click()
  await expect(page.getByRole('heading', { name: 'Order cancelled' })).toBeVisible()
  await checkAccessibility(page, 'cancelled')
  await page.getByRole('button', { name: 'Add everything back to cart' }).click()
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  await checkAccessibility(page, 'paid')
  await page.getByRole('link', { name: 'Your table’s orders' }).last().click()
  await expect(page.getByRole('article')).toHaveCount(2)
  await checkAccessibility(page, 'visit')
})

test('accessibility: without a visit', async ({ page, server }) => {
  await page.goto(`${server.url}/app/welcome`)
  await expect(page.getByRole('link', { name: 'See the menu' })).toBeVisible()
  await checkAccessibility(page, 'welcome')
  for (const reason of ['scan', 'unknown', 'revoked', 'staff', 'ended', 'moved', 'branch', 'elsewhere']) {
    await page.goto(`${server.url}/app/closed/${reason}`)
    await expect(page.getByRole('heading')).toBeVisible()
    await checkAccessibility(page, reason)
  }
})

test('a whole order can be placed by keyboard', async ({ page, server }) => {
  const tabTo = async (name: RegExp) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab')
      const focused = page.locator(':focus')
      const text = await focused.evaluate((e) => e.getAttribute('aria-label') ?? (e as HTMLElement).innerText ?? '')
      if (!name.test(text)) continue
      // The focused element is visible: nothing covers its centre.
      expect(await focused.evaluate((e) => {
        const b = e.getBoundingClientRect()
        const top = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2)
        return e.contains(top) || (top?.contains(e) ?? false) || top?.closest('article')?.contains(e)
      }), String(name)).toBe(true)
      return
    }
    throw new Error(`no way to ${String(name)}`)
  }
  await sitDown(page, server, 'A6')
  await expect(page.getByRole('link', { name: 'Rolled pho', exact: true })).toBeVisible()
  await tabTo(/^Rolled pho$/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Rolled pho' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'Rolled pho', exact: true })).toBeFocused()
  await page.keyboard.press('Enter')
  await tabTo(/One more/)
  await page.keyboard.press('Enter')
  await tabTo(/^Add/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await tabTo(/View cart · 2 items/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Your cart' })).toBeVisible()
  await tabTo(/^Order and pay/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeFocused()
  await tabTo(/Make a test payment/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
})

test('narrow and enlarged pages cut nothing off', async ({ page, server }) => {
  await page.setViewportSize({ width: 320, height: 480 })
  await sitDown(page, server, 'B5')
  const expectNoOverflow = async (what: string) => {
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(over, what).toBeLessThanOrEqual(0)
  }
  for (const [path, heading] of [['/app', 'Comanda 台北'], ['/app/order', 'Comanda 台北'], ['/app/visit', 'Your table’s orders'], ['/app/checkout', 'Comanda 台北']]) {
    await page.goto(server.url + (path ?? ''))
    await expect(page.getByRole('heading', { level: 1, name: heading ?? '' })).toBeAttached()
    await expectNoOverflow(path ?? '')
  }
})
