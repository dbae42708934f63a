import type { Page } from '@playwright/test'

import { add, expect, orderCart, sitDown, test } from './fixtures'

/** Waits until the service worker has cached the app's files. */
async function kept(page: Page): Promise<void> {
  await page.evaluate(async () => navigator.serviceWorker.ready)
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null)
}

test('the app opens without a network, with the last menu', async ({ page, another }) => {
  const server = await another()
  await sitDown(page, server, 'A1')
  await kept(page)
  const cached = await page.evaluate(async () => {
    const all = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()))
    return all.flat().map((request) => new URL(request.url).pathname)
  })
  expect(cached).toContain('/app')
  expect(cached.filter((path) => !/^\/app$|^\/assets\//.test(path))).toEqual([]) // no API response is cached
  expect(cached.filter((path) => /(Login|Checkout|Basket)View-/.test(path))).toEqual([]) // neither are the members' pages

  await server.stop()
  await page.reload()
  await expect(page.getByText('No connection. This is the menu as of')).toBeVisible()
  await add(page, 'Beef pho', 'no onion')
  await page.getByRole('link', { name: /View cart · 1 item/ }).click()
  await expect(page.getByRole('dialog')).toContainText('Note: no onion')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.goto(`${server.url}/m/a-code-that-is-scanned`)
  await expect(page.getByRole('heading', { name: 'Can’t reach the restaurant' })).toBeVisible()
  await page.goto(`${server.url}/app`)
  await expect(page.getByRole('link', { name: /View cart · 1 item/ })).toBeVisible()

  await server.start()
  await expect(page.getByText('No connection')).toHaveCount(0, { timeout: 20_000 })
  await orderCart(page)
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible()
})

test('a server without the worker removes it from phones', async ({ page, another }) => {
  const server = await another()
  await sitDown(page, server, 'A1')
  await kept(page)
  await server.stop()
  await server.start({ COMANDA_GUEST_WORKER: 'off' })
  await page.reload()
  await expect(page.getByRole('article').first()).toBeVisible()
  await expect.poll(() => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0)
  expect(await page.evaluate(async () => caches.keys())).toEqual([])
})
