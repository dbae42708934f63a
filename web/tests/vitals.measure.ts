import { appendFileSync } from 'node:fs'
import type { Page } from '@playwright/test'

import { expect, test } from './fixtures'
import { enter, order } from './staff'

// The product's limits for the phone and the network of Lighthouse's mobile profile. `make vitals` measures each page three
// times with empty caches and takes the median. The measurement is separate from the tests, because they share the processor.
test.use({ file: 'vitals' })
test.describe.configure({ mode: 'serial' })

interface Vitals {
  fcp: number // ms until the first text or picture
  lcp: number // ms until the largest one, and until the page's main content
  shift: number // cumulative layout shift
}

const rounds = 3

/** Loads a page like a slow phone, and measures until it is loaded and stable. */
async function load(page: Page, url: string, ready: string): Promise<Vitals> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Network.enable')
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true })
  const throughput = (1.6 * 1000 * 1000) / 8
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false, latency: 150, downloadThroughput: throughput, uploadThroughput: throughput,
  })
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await page.addInitScript((selector) => {
    const seen = { lcp: 0, shift: 0 }
    Object.assign(window, { seen })
    // The largest text may belong to the frame, or to a placeholder shown before the page's content.
    const watcher = new MutationObserver(() => {
      if (!document.querySelector(selector)) return
      watcher.disconnect()
      requestAnimationFrame(() => (seen.lcp = Math.max(seen.lcp, performance.now())))
    })
    watcher.observe(document, { childList: true, subtree: true })
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) seen.lcp = Math.max(seen.lcp, e.startTime)
    }).observe({ type: 'largest-contentful-paint', buffered: true })
    new PerformanceObserver((list) => {
      for (const e of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
        if (!e.hadRecentInput) seen.shift += e.value
      }
    }).observe({ type: 'layout-shift', buffered: true })
  }, ready)
  await page.goto(url, { waitUntil: 'commit' })
  await expect(page.locator(ready).first()).toBeVisible({ timeout: 30_000 })
  await page.waitForFunction(() => [...document.images].every((i) => i.complete || i.loading === 'lazy'))
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  return page.evaluate(async () => {
    // After two frames, the observers have reported everything that was painted.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const fcp = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity
    const { seen } = window as unknown as { seen: { lcp: number; shift: number } }
    return { fcp, lcp: seen.lcp, shift: seen.shift }
  })
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Infinity

/** Measures a page, and compares it with its limits in ms. */
async function measure(name: string, open: () => Promise<Page>, url: string, ready: string, limits: Partial<Vitals>): Promise<void> {
  const seen: Vitals[] = []
  for (let i = 0; i < rounds; i++) {
    const page = await open()
    seen.push(await load(page, url, ready))
    await page.close()
  }
  const m = { fcp: median(seen.map((v) => v.fcp)), lcp: median(seen.map((v) => v.lcp)), shift: median(seen.map((v) => v.shift)) }
  const line = `${name.padEnd(16)} FCP ${m.fcp.toFixed(0).padStart(5)} ms  LCP ${m.lcp.toFixed(0).padStart(5)} ms  shift ${m.shift.toFixed(3)}\n`
  process.stdout.write(line)
  if (process.env.VITALS) appendFileSync(process.env.VITALS, line)
  expect(m.fcp, 'FCP').toBeLessThanOrEqual(limits.fcp ?? Infinity)
  expect(m.lcp, 'LCP').toBeLessThanOrEqual(limits.lcp ?? Infinity)
  expect(m.shift, 'layout shift').toBeLessThan(limits.shift ?? 0.1)
}

test.beforeEach(() => {
  test.setTimeout(180_000)
})

test('guests and members', async ({ browser, server }) => {
  const phone = async () => (await browser.newContext({ viewport: { width: 390, height: 844 }, serviceWorkers: 'block' })).newPage()
  await measure('landing', phone, (await server.table('A1')).link, 'article img', { lcp: 2500 })
  await measure('shop', phone, `${server.url}/shop`, 'article', { lcp: 4000 })
  await measure('public page', phone, `${server.url}/`, 'h1', { lcp: 2500 })
  await measure('public menu', phone, `${server.url}/menu/1`, 'h1', { lcp: 2500 })
  await measure('console login', phone, `${server.url}/console/login`, '#username', { fcp: 3000, lcp: 4000 })
})

for (const [name, viewport] of Object.entries({ tablet: { width: 1024, height: 768 }, phone: { width: 390, height: 844 } })) {
  test(`staff on a ${name}`, async ({ browser, server }) => {
    for (const label of ['A2', 'A3', 'A4', 'A5']) await order(server, label, 'SANDBOX')
    const context = await browser.newContext({ viewport, locale: 'en', serviceWorkers: 'block' })
    const first = await context.newPage()
    await enter(first, server, 'manager')
    await first.close()
    const open = () => context.newPage()
    await measure(`board, ${name}`, open, `${server.url}/console/board`, 'article', { fcp: 3000, lcp: 4000 })
    for (const [at, ready] of Object.entries({ today: 'h2', tables: 'article', availability: 'article', menus: 'h1', reports: 'h1' })) {
      await measure(`${at}, ${name}`, open, `${server.url}/console/${at}`, ready, {})
    }
  })
}
