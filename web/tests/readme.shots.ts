import { add, expect, sitDown, test } from './fixtures'
import { enter, order, sizes } from './staff'

test.use({ file: 'readme' })

/** The folder of the README's pictures. */
const path = (name: string) => `../docs/screens/${name}.png`

test('pictures of the README', async ({ page, server, browser }) => {
  test.setTimeout(180_000)
  await server.quota('12', 3)
  await page.setViewportSize(sizes.phone)
  await sitDown(page, server, 'A1')
  await expect(page.getByRole('link', { name: 'Beef pho', exact: true })).toBeVisible()
  await add(page, 'Beef pho', 'no onion')
  await add(page, 'Chicken pho')
  await page.evaluate(() => {
    scrollTo(0, 0)
  })
  await expect(page.getByRole('link', { name: /View cart/ })).toBeVisible()
  await page.waitForFunction(() => [...document.images].every((i) => i.complete || i.loading === 'lazy'))
  await page.screenshot({ path: path('menu') })
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await page.getByRole('button', { name: 'Make a test payment' }).click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.screenshot({ path: path('order') })

  await server.quota('12', null)
  await server.quota('11', 60)
  const desk = await (await browser.newContext({ viewport: sizes.desktop, locale: 'en' })).newPage()
  for (const label of ['A2', 'A3', 'A4', 'A5']) {
    const o = await order(server, label, 'SANDBOX')
    if (label === 'A2' || label === 'A3') await server.staff('POST', `/api/orders/${o.id}/start`)
    if (label === 'A3') await server.staff('POST', `/api/orders/${o.id}/ready`)
  }
  await enter(desk, server, 'manager', 'board')
  await expect(desk.getByRole('article')).toHaveCount(5)
  await desk.screenshot({ path: path('board') })
  await desk.goto(`${server.url}/console/availability`)
  await expect(desk.getByRole('article', { name: 'Beef pho', exact: true })).toBeVisible()
  await desk.screenshot({ path: path('availability') })
})
