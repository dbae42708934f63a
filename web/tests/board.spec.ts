import type { CDPSession } from '@playwright/test'

import { expect, test } from './fixtures'
import { enter, order, tablet } from './staff'

/** The page's memory after a garbage collection. */
async function held(cdp: CDPSession): Promise<{ heap: number; nodes: number; listeners: number }> {
  await cdp.send('HeapProfiler.collectGarbage')
  const { metrics } = await cdp.send('Performance.getMetrics')
  const of = (name: string) => metrics.find((m) => m.name === name)?.value ?? 0
  return { heap: of('JSHeapUsedSize'), nodes: of('Nodes'), listeners: of('JSEventListeners') }
}

test('the board runs for a shift of six hours without a reload or a leak', async ({ page, another }) => {
  const server = await another() // without orders of other tests
  // Requests keep their time limits in real time. Otherwise the clock, which runs minutes while a request is on its way,
  // aborts refreshes until their token counts as stolen.
  await page.addInitScript(() => Object.assign(window, { realTimeouts: AbortSignal }))
  await page.clock.install()
  await page.addInitScript(() => {
    window.AbortSignal = (window as unknown as { realTimeouts: typeof AbortSignal }).realTimeouts
  })
  await page.setViewportSize(tablet)
  await enter(page, server, 'kitchen', 'board')
  await expect(page.getByText('No tickets')).toBeVisible({ timeout: 30_000 })
  await page.evaluate(() => Object.assign(window, { same: true }))
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable')

  // Every forty minutes a cook starts an order and takes it back, so that the final page has as much content as the
  // first. In between, the timers of the page run: for ages, for the token, and for reopening a silent stream.
  const { id } = await order(server, 'A2', 'SANDBOX')
  const ticket = page.getByRole('article')
  let start = await held(cdp)
  for (let minutes = 0; minutes < 6 * 60; minutes += 40) {
    await expect(ticket.getByRole('button', { name: 'Start' })).toBeVisible()
    await server.staff('POST', `/api/orders/${id}/start`)
    await expect(ticket.getByRole('button', { name: 'Ready' })).toBeVisible()
    await server.staff('POST', `/api/orders/${id}/recall`)
    await page.clock.runFor('40:00')
    // The stream waits up to ten seconds before it reconnects, unless the network comes back. That may happen while an
    // attempt of the past minutes still ends.
    await expect(async () => {
      await page.evaluate(() => dispatchEvent(new Event('online')))
      await expect(page.getByRole('alert')).toHaveCount(0, { timeout: 1000 })
    }).toPass({ timeout: 60_000 })
    if (minutes === 40) start = await held(cdp) // everything that is loaded on demand is loaded now
  }
  await expect(ticket.getByRole('button', { name: 'Start' })).toBeVisible()
  expect(await page.evaluate(() => (window as unknown as { same?: boolean }).same)).toBe(true)
  const end = await held(cdp)
  expect(end.nodes).toBeLessThan(1.2 * start.nodes)
  expect(end.listeners).toBeLessThan(1.2 * start.listeners)
  expect(end.heap).toBeLessThan(start.heap + 2_000_000)
})

test('a kitchen’s tablet fills its screen, and late tickets ask until a cook has seen them', async ({ browser, another }) => {
  const server = await another({ COMANDA_TICKET_WARN: '1s', COMANDA_TICKET_LATE: '2s' })
  const context = await browser.newContext({ viewport: tablet, hasTouch: true, locale: 'en', reducedMotion: 'reduce' })
  const page = await context.newPage()
  await enter(page, server, 'kitchen', 'board')
  const { number } = await order(server, 'A1', 'SANDBOX')
  const ticket = page.getByRole('article')
  await expect(ticket).toBeVisible()
  const full = () => page.evaluate(() => document.fullscreenElement !== null)

  await expect.poll(full).toBe(true) // the press of the login button allows it
  await expect(page.getByRole('navigation')).toBeHidden()
  // A tablet that is switched on again enters it with the first touch. Playwright's own scripts count as a press.
  await page.addInitScript(() => { Object.defineProperty(navigator, 'userActivation', { value: { isActive: false } }) })
  await page.reload()
  await expect(ticket).toBeVisible()
  expect(await full()).toBe(false)
  await page.getByRole('heading', { name: 'Order board' }).tap()
  await expect.poll(full).toBe(true)
  await expect(page.getByRole('navigation')).toBeHidden()
  const banner = page.getByRole('alert').filter({ hasText: `Late: ${number}` })
  await expect(banner).toBeVisible()
  const small = await page.locator('.board').getByRole('button').evaluateAll((buttons) =>
    buttons.filter((b) => b.getBoundingClientRect().height < 56).map((b) => b.textContent))
  expect(small).toEqual([]) // a wet hand hits every button
  await banner.getByRole('button', { name: 'Got it' }).tap()
  await expect(banner).toHaveCount(0)
  await expect(ticket).toBeVisible()

  await page.getByRole('button', { name: 'Exit full screen' }).tap()
  await expect.poll(full).toBe(false)
  await page.reload() // a cook who has left the full screen is asked for no other one
  await expect(ticket).toBeVisible()
  await page.getByRole('heading', { name: 'Order board' }).tap()
  await expect(page.getByRole('button', { name: 'Full screen' })).toBeVisible()
  expect(await full()).toBe(false)
  await context.close()
})
