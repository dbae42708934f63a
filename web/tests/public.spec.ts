import { pageViolations } from './accessibility'
import { expect, test } from './fixtures'
import { order, sizes } from './staff'

// The public page and the menus are rendered by the server: they need no script, and search engines read them.
test('the public page and a menu can be read in every language', async ({ page, server }) => {
  await page.setViewportSize({ width: 320, height: 640 })
  for (const language of ['vi', 'zh-Hant', 'en']) {
    for (const path of ['/', '/menu/1', '/menu/2']) {
      await page.goto(`${server.url}${path}?lang=${language}`)
      await expect(page.locator('html')).toHaveAttribute('lang', language)
      await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1)
      await expect(page.locator('meta[name=description]')).toHaveAttribute('content', /\S/)
      expect(await pageViolations(page), `${path} in ${language}`).toEqual([])
      await page.emulateMedia({ colorScheme: 'light' })
    }
  }
  await page.getByRole('link', { name: 'Tiếng Việt' }).click()
  await expect(page.locator('html')).toHaveAttribute('lang', 'vi')
})

test('search engines can read the restaurant’s menu', async ({ page, server, request }) => {
  await page.goto(`${server.url}/?lang=en`)
  await page.getByRole('link', { name: /See the menu/ }).first().click()
  await expect(page.getByRole('heading', { name: 'Beef pho', exact: true })).toBeVisible()
  const address = new URL(page.url()).pathname
  expect(address).toMatch(/^\/menu\/[a-z0-9-]*[a-z][a-z0-9-]*$/) // readable, and the same as in the sitemap
  const described = await page.locator('script[type="application/ld+json"]').allTextContents()
  const kinds = described.map((text) => (JSON.parse(text) as { '@type': string })['@type'])
  expect(kinds).toContain('Menu')
  expect(await (await request.get(`${server.url}/robots.txt`)).text()).toContain('Sitemap: ')
  expect(await (await request.get(`${server.url}/sitemap.xml`)).text()).toContain(`${address}<`)
})

// The server renders these pages in the language of the browser. It is another browser than the one that placed the order.
for (const [locale, missing, paid, failed, pending] of [
  ['en', 'Page not found', 'Paid', 'Payment didn’t go through', 'Checking the payment…'],
  ['vi', 'Không tìm thấy trang này', 'Đã thanh toán', 'Thanh toán không thành công', 'Đang kiểm tra thanh toán…'],
  ['zh-TW', '找不到這個頁面', '付款完成', '付款未成功', '正在確認付款…'],
] as const) {
  test(`an unknown address and the result of a payment can be read in ${locale}`, async ({ browser, server }) => {
    const page = await (await browser.newContext({ viewport: sizes.phone, locale })).newPage()
    const check = async (heading: string) => {
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading)
      expect(await pageViolations(page), heading).toEqual([])
      await page.emulateMedia({ colorScheme: 'light' })
    }
    await page.goto(`${server.url}/no-such-page`)
    await check(missing)
    /** Orders, and returns the pages of the gateway and of the payment. */
    const begin = async () => {
      const { payment } = await order(server, 'A1', 'VNPAY')
      const gateway = payment.redirectUrl ?? ''
      return { gateway, result: `${server.url}/pay/${new URL(gateway).searchParams.get('vnp_TxnRef') ?? ''}` }
    }
    for (const [press, heading] of [['pay', paid], ['decline', failed]] as const) {
      const { gateway, result } = await begin()
      await page.goto(gateway)
      await page.locator(`button[value=${press}]`).click()
      await expect(page).toHaveURL(result)
      await check(heading)
    }
    const { gateway, result } = await begin()
    await page.goto(result)
    await check(pending)
    // The page changes by itself as soon as the payment is decided, and does not reload before that.
    await page.evaluate(() => Object.assign(window, { same: true }))
    await page.waitForResponse(result)
    expect(await page.evaluate(() => (window as { same?: boolean }).same)).toBe(true)
    const other = await page.context().newPage()
    await other.goto(gateway)
    await other.locator('button[value=pay]').click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(paid)
    await page.context().close()
  })
}
