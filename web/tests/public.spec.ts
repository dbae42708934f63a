import { pageViolations } from './accessibility'
import { expect, test } from './fixtures'

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
