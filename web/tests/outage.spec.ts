import type { Page } from '@playwright/test'

import { add, expect, sitDown, test } from './fixtures'
import { join, logIn } from './member'
import { password } from './server'
import { enter, order, sizes } from './staff'

// These tests cover phones without a service worker; worker.spec.ts covers phones with one.
test.use({ serviceWorkers: 'block' })

/** Waits until all parts of the app and all languages have been fetched; the languages come last. */
async function fetchedAhead(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const names = performance.getEntriesByType('resource').map((e) => e.name).join(' ')
    return ['en', 'vi', 'zh-Hant', 'ItemDetailView', 'CartDrawer', 'VisitView'].every((part) => names.includes(`/assets/${part}-`))
  })
}

test('a tap during an outage stays in the app', async ({ page, another }) => {
  const server = await another()
  await sitDown(page, server, 'A1')
  await expect(page.getByRole('link', { name: 'Beef pho', exact: true })).toBeVisible()
  await fetchedAhead(page)
  await server.stop()
  await expect(page.getByText('No connection to the restaurant')).toBeVisible()
  await add(page, 'Beef pho', 'no onion')
  await page.getByRole('link', { name: /View cart · 1 item/ }).click()
  await expect(page.getByRole('dialog')).toContainText('Note: no onion')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByLabel('Language').selectOption('vi')
  await expect(page.locator('html')).toHaveAttribute('lang', 'vi')
  await page.getByLabel('Ngôn ngữ').selectOption('en')
  await page.getByRole('link', { name: 'Call a server' }).click()
  await page.getByRole('button', { name: 'Water, please' }).click()
  await expect(page.getByText('We couldn’t send that')).toBeVisible()
  await server.start()
  await expect(page.getByText('Got it. Someone is on the way.')).toBeVisible({ timeout: 20_000 }) // the call was sent now
  await expect(page.getByText('We couldn’t send that')).toHaveCount(0)
  await expect(page.getByText('No connection to the restaurant')).toHaveCount(0)
})

test('a screen that could not be fetched opens when the server is back', async ({ page, server }) => {
  await page.route('**/assets/ItemDetailView-*.js', (route) => route.abort())
  await sitDown(page, server, 'A2')
  await page.getByRole('link', { name: 'Beef pho', exact: true }).click()
  await expect(page.getByText('We couldn’t load this page')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Chicken pho', exact: true })).toBeVisible() // the menu is still shown
  await page.unroute('**/assets/ItemDetailView-*.js')
  await expect(page.getByRole('dialog', { name: 'Beef pho' })).toBeVisible()
  await expect(page.getByText('We couldn’t load this page')).toHaveCount(0)
})

test('the counter keeps its orders on the screen during an outage', async ({ page, another }) => {
  const server = await another()
  const { number } = await order(server, 'A1', 'COUNTER')
  await enter(page, server, 'cashier', 'counter')
  const waiting = page.getByRole('link', { name: number })
  await expect(waiting).toBeVisible()
  await server.stop()
  const notice = page.getByText('Can’t reach the server. This may be out of date.')
  await expect(notice).toBeVisible({ timeout: 20_000 })
  await expect(waiting).toBeVisible()
  await server.start()
  await expect(notice).toHaveCount(0, { timeout: 20_000 })
  await expect(waiting).toBeVisible()
})

test('the availability stays on the screen during an outage, with one notice', async ({ page, another }) => {
  const server = await another()
  await enter(page, server, 'manager', 'availability')
  const dish = page.getByText('Chicken pho', { exact: true }).first()
  await expect(dish).toBeVisible()
  await expect(page.getByRole('progressbar')).toHaveCount(0)
  await server.stop()
  const notice = page.getByText('Can’t reach the server. This may be out of date.')
  await expect(notice).toHaveCount(1, { timeout: 20_000 })
  await expect(dish).toBeVisible()
  await server.start()
  await expect(notice).toHaveCount(0, { timeout: 20_000 })
  await expect(dish).toBeVisible()
})

test('a console page that could not be fetched opens when the server is back', async ({ page, another }) => {
  const server = await another()
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager', 'today')
  await expect(page.getByRole('heading', { name: 'Today', exact: true })).toBeVisible()
  await page.evaluate(() => Object.assign(window, { same: true }))
  await server.stop()
  await page.getByRole('link', { name: 'Reports' }).click()
  await expect(page.getByText('This page opens as soon as it’s back.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Today', exact: true })).toBeVisible() // the page before is still shown
  await server.start()
  await expect(page.getByRole('heading', { name: 'Reports' })).toBeVisible({ timeout: 20_000 })
  await expect(page.getByText('This page opens as soon as it’s back.')).toHaveCount(0)
  expect(await page.evaluate(() => (window as unknown as { same?: boolean }).same)).toBe(true)
})

test('the console waits for its styles', async ({ page, server }) => {
  const styles = '**/assets/frameParts-*.css'
  await page.route(styles, (route) => route.abort())
  await page.goto(`${server.url}/console/today`)
  await page.getByLabel('E-mail or username').fill('manager')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByText('This page opens as soon as it’s back.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Log in' })).toHaveAttribute('aria-busy', 'false')
  await expect(page.getByRole('alert')).toHaveCount(0) // the login itself has succeeded
  await page.unroute(styles)
  await expect(page.getByRole('heading', { name: 'Today', exact: true })).toBeVisible()
  await expect(page.locator('.v-toolbar__content').first()).toHaveCSS('display', 'flex')
})

test('a login continues when the server is back', async ({ page, server }) => {
  await join(server, 'quyen@house.example')
  await logIn(page, server, 'quyen@house.example')
  await page.route('**/auth/refresh', (route) => route.abort())
  await page.goto(`${server.url}/shop/account`)
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible()
  await expect(page.getByText('Loading…')).toHaveCount(0)
  await page.unroute('**/auth/refresh')
  await expect(page.getByText('Logged in as quyen@house.example')).toBeVisible()
})

test('the sheet of QR codes loads by itself after an outage, and only once', async ({ page, server }) => {
  await page.setViewportSize(sizes.desktop)
  await enter(page, server, 'manager', 'tables')
  const sheet = '**/api/tables/qr-sheet**'
  await page.route(sheet, (route) => route.abort())
  await page.getByRole('link', { name: 'Print QR codes' }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'Can’t reach the server' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Print' })).toBeDisabled()
  await page.unroute(sheet)
  await expect(page.locator('svg.sheet').first()).toBeVisible()
  await expect(page.getByRole('alert').filter({ hasText: 'Can’t reach the server' })).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Print' })).toBeEnabled()

  // A window that is focused again does not read the codes again: they change only when a table does.
  const tables = page.waitForResponse(/\/api\/tables\?/)
  let reads = 0
  await page.route(sheet, (route) => {
    reads++
    return route.continue()
  })
  await page.clock.install()
  await page.clock.fastForward(10_000)
  await page.evaluate(() => { dispatchEvent(new Event('visibilitychange')) })
  await tables // what else the page shows is read again
  expect(reads).toBe(0)
})
