import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { Page } from '@playwright/test'

import { add, expect, orderCart, sitDown, test } from './fixtures'
import { password, type Server } from './server'
import { sizes } from './staff'

/** Waits until the service worker has cached the app's files. */
async function kept(page: Page): Promise<void> {
  await page.evaluate(async () => navigator.serviceWorker.ready)
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null)
}

test('the app opens without a network, with the last menu', async ({ page, another }) => {
  const server = await another()
  await sitDown(page, server, 'A1')
  await kept(page)
  const manifest = await page.evaluate(async () => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=manifest]')
    return (await (await fetch(link?.href ?? '')).json()) as { name: string; display: string; start_url: string }
  })
  expect(manifest).toMatchObject({ display: 'standalone', start_url: '/app' }) // phones can install it
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

/** Forwards to a server, and can pretend that it has a newer release: its service workers then have another version. */
async function proxy(server: Server) {
  let release = ''
  const front = createServer((from, to) => {
    // Whole plain files, because the version is changed in the text.
    const headers = { ...from.headers, 'accept-encoding': 'identity' }
    delete headers['if-none-match']
    from.pipe(request(server.url + (from.url ?? ''), { method: from.method ?? 'GET', headers }, (got) => {
      if (!release || !from.url?.endsWith('/worker.js')) {
        to.writeHead(got.statusCode ?? 502, got.headers)
        got.pipe(to)
        return
      }
      let text = ''
      got.setEncoding('utf8').on('data', (d: string) => (text += d)).on('end', () => {
        delete got.headers['content-length']
        delete got.headers.etag
        to.writeHead(200, got.headers)
        to.end(text.replace(/"version":"[0-9a-f]+"/, `"version":"${release}"`))
      })
    }).on('error', () => to.destroy()))
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((front.address() as AddressInfo).port)}`,
    publish: (version: string) => (release = version),
    close: () => {
      front.close()
      front.closeAllConnections()
    },
  }
}

test('the console offers a new release and loads it in each tab when the user agrees', async ({ page, server }) => {
  const front = await proxy(server)
  await page.setViewportSize(sizes.desktop)
  await page.goto(`${front.url}/console/`)
  await page.getByLabel('E-mail or username').fill('kitchen')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByRole('heading', { name: 'Order board' })).toBeVisible()
  // The first worker takes over the page that installed it: a kitchen's screen may never be reloaded.
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true)
  await page.evaluate(() => Object.assign(window, { same: true }))
  const other = await page.context().newPage()
  await other.goto(`${front.url}/console/orders`)
  await expect(other.getByRole('heading', { name: 'Orders', exact: true })).toBeVisible()
  await other.evaluate(() => Object.assign(window, { same: true }))
  const check = () => page.evaluate(async () => { await (await navigator.serviceWorker.getRegistration('/console/'))?.update() })

  await check()
  await expect(page.getByText('A new version is available.')).toHaveCount(0) // the same release
  front.publish('release-two')
  await check()
  await expect(page.getByText('A new version is available.')).toBeVisible()
  expect(await page.evaluate(() => (window as { same?: boolean }).same)).toBe(true) // a board is not reloaded while a cook uses it
  await page.getByRole('button', { name: 'Reload', exact: true }).click()
  const reloaded = (tab: Page) => expect.poll(() => tab.evaluate(() => (window as { same?: boolean }).same).catch(() => true)).toBe(undefined)
  await reloaded(page)
  await expect(page.getByRole('heading', { name: 'Order board' })).toBeVisible()
  await expect.poll(() => page.evaluate(async () => caches.keys())).toEqual(['console-release-two'])

  // The other tab is not reloaded. It still runs the old release and offers the new one.
  await expect(other.getByText('A new version is available.')).toBeVisible()
  expect(await other.evaluate(() => (window as { same?: boolean }).same)).toBe(true)
  await other.getByRole('button', { name: 'Reload', exact: true }).click()
  await reloaded(other)
  await expect(other.getByRole('heading', { name: 'Orders', exact: true })).toBeVisible()
  for (const tab of [page, other]) await expect(tab.getByText('A new version is available.')).toHaveCount(0)
  front.close()
})

test('the guest app takes a new release at once, and keeps the files of the previous one for open pages', async ({ page, server }) => {
  const front = await proxy(server)
  await page.goto(front.url + new URL((await server.table('A1')).link).pathname)
  await expect(page.getByRole('article').first()).toBeVisible()
  await kept(page)
  const first = await page.evaluate(async () => caches.keys())
  for (const release of ['release-two', 'release-three']) {
    front.publish(release)
    await page.evaluate(async () => { await (await navigator.serviceWorker.getRegistration())?.update() })
    await expect.poll(() => page.evaluate(async () => {
      const worker = await navigator.serviceWorker.getRegistration()
      return worker?.installing || worker?.waiting || worker?.active?.state !== 'activated' ? [] : caches.keys()
    })).toContain(`guest-${release}`)
  }
  await expect.poll(() => page.evaluate(async () => caches.keys())).toEqual(['guest-release-two', 'guest-release-three'])
  expect(first).toHaveLength(1)
  await expect(page.getByRole('article').first()).toBeVisible()
  front.close()
})
