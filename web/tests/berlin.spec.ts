import { checkAccessibility } from './accessibility'
import { expect, sitDown, test } from './fixtures'
import { enter, sizes } from './staff'

// The demo's branch in Berlin: German and English names, prices with two tax rates, a service charge, sizes and a lunch set.
test('a guest in Berlin sees the service charge and both taxes before and after the order', async ({ page, server, browser }) => {
  test.setTimeout(120_000) // it checks five pages in three languages and two themes
  await page.setViewportSize(sizes.phone)
  await sitDown(page, server, 'C1')
  await expect(page.getByText('Service charge: 10%, added to every order.')).toBeVisible()
  const card = page.getByRole('article').filter({ hasText: 'Wiener schnitzel' }).first()
  await expect(card).toContainText('from €16.90')
  await checkAccessibility(page, 'the menu in Berlin')

  await page.getByRole('link', { name: 'Lunch menu', exact: true }).click()
  const lunch = page.getByRole('dialog', { name: 'Lunch menu' })
  await lunch.getByRole('radio', { name: /Berlin pilsner/ }).check()
  await lunch.getByRole('button', { name: 'Add · €15.90' }).click()
  await expect(lunch).toHaveCount(0)
  await page.getByRole('link', { name: 'Wiener schnitzel', exact: true }).click()
  const schnitzel = page.getByRole('dialog', { name: 'Wiener schnitzel' })
  await schnitzel.getByRole('radio', { name: /Small/ }).check()
  await schnitzel.getByRole('radio', { name: /Cucumber salad/ }).check()
  await checkAccessibility(page, 'a schnitzel with its options')
  await schnitzel.getByRole('button', { name: 'Add · €18.40' }).click()
  await expect(schnitzel).toHaveCount(0)

  // 34.30 with 10 % for service. The beer's part of the lunch menu and of the service charge is taxed with 19 %.
  await page.getByRole('link', { name: /View cart/ }).click()
  const cart = page.getByRole('dialog', { name: 'Your cart' })
  const parts = async (): Promise<void> => {
    const shown = page.locator('.summary').last()
    await expect(shown).toContainText('Service charge')
    await expect(shown).toContainText('€3.43')
    await expect(shown).toContainText('Includes 19% tax')
    await expect(shown).toContainText('Includes 7% tax')
    await expect(shown.locator('.total')).toContainText('€37.73')
  }
  await parts()
  await checkAccessibility(page, 'a cart in Berlin')
  await cart.getByRole('radio', { name: /Pay at the counter/ }).check()
  await cart.getByRole('button', { name: 'Order and pay · €37.73' }).click()
  await expect(page.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  await parts()
  await checkAccessibility(page, 'an order in Berlin')

  // The staff see the same parts, and the dishes in German, which is the branch's first language.
  const { items: branches } = await server.staff<{ items: { id: string; name: string }[] }>('GET', '/api/branches')
  const berlin = branches.find((b) => b.name === 'Comanda Berlin')?.id ?? ''
  const { items: [order] } = await server.staff<{ items: { id: string; totalPrice: number }[] }>(
    'GET', `/api/orders?branchId=${berlin}&paymentStatus=UNPAID`)
  expect(order?.totalPrice).toBe(3773)
  const desk = await (await browser.newContext({ viewport: sizes.desktop, locale: 'en' })).newPage()
  await enter(desk, server, 'owner', `orders/${order?.id ?? ''}`)
  await expect(desk.getByText('Mittagsmenü')).toBeVisible()
  await expect(desk.getByRole('row', { name: /^Service/ })).toContainText('€3.43')
  await expect(desk.getByRole('row', { name: /19%/ })).toBeVisible()
  await expect(desk.getByRole('row', { name: /7%/ })).toBeVisible()
  await checkAccessibility(desk, 'an order in Berlin on the console')
  await desk.context().close()
})

test('a guest whose language Berlin’s menu lacks reads it in English, and finds dishes by their German names', async ({ page, server }) => {
  await page.setViewportSize(sizes.phone)
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'languages', { value: ['vi'] })
  })
  await sitDown(page, server, 'C2')
  await expect(page.locator('html')).toHaveAttribute('lang', 'vi')
  await expect(page.getByRole('link', { name: 'Red berry compote', exact: true })).toBeVisible()
  await page.getByRole('searchbox').fill('rote grütze')
  await expect(page.getByRole('article')).toHaveCount(1)
  await expect(page.getByRole('article')).toContainText('Red berry compote')
})
