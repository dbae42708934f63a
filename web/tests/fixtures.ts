import { expect, test as base, type Page } from '@playwright/test'

import { listen } from './accessibility'
import { Server } from './server'

interface Fixtures {
  another: (settings?: Record<string, string>) => Promise<Server>
  empty: Server
  guarded: undefined
  tidied: undefined
}

interface WorkerFixtures {
  file: string
  server: Server
}

/**
 * Browser tests with a restaurant. Each worker has one server, on which its tests run one after the other, in any order. The
 * server is reset after each test. A page that logs an error, such as a violation of the security policy, fails its test.
 */
export const test = base.extend<Fixtures, WorkerFixtures>({
  // A file of screenshots has its own server, which is not reset between its tests.
  file: ['', { option: true, scope: 'worker' }],
  server: [
    async ({}, use) => {
      const server = await new Server().start()
      await use(server)
      await server.remove()
    },
    { scope: 'worker' },
  ],
  tidied: [
    async ({ file, server }, use) => {
      await use(undefined)
      if (!file) await server.tidy()
    },
    { auto: true },
  ],
  // A server without the demo, such as a new restaurant has.
  empty: async ({}, use) => {
    const server = await new Server({}, true).start()
    await use(server)
    await server.remove()
  },
  // Starts a server for one test that stops it or needs other settings.
  another: async ({}, use) => {
    const servers: Server[] = []
    await use(async (settings) => {
      const server = new Server(settings)
      servers.push(server)
      return server.start()
    })
    for (const server of servers) await server.remove()
  },
  guarded: [
    async ({ page }, use) => {
      const errors: string[] = []
      page.on('pageerror', (e) => errors.push(String(e)))
      page.on('console', (m) => {
        // A deliberately cut network is not an error of the page, and neither is a browser without a push service.
        if (m.type() === 'error' && !/Failed to load resource|support the Push API/.test(m.text())) errors.push(m.text())
      })
      listen(page)
      await use(undefined)
      expect(errors).toEqual([])
    },
    { auto: true },
  ],
})

export { expect }

/** Opens a table's link and waits for the menu. */
export async function sitDown(page: Page, server: Server, label: string): Promise<void> {
  await page.goto((await server.table(label)).link)
  await expect(page.getByRole('article').first()).toBeVisible()
}

/** Orders the cart of a table with a payment method. */
export async function orderCart(page: Page, method = /Test payment/): Promise<void> {
  await page.getByRole('link', { name: /View cart/ }).click()
  await page.getByRole('radio', { name: method }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
}

/** Puts a dish into the cart. */
export async function add(page: Page, name: string, note = ''): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
  if (note) await page.getByLabel('Note for the kitchen').fill(note)
  await page.getByRole('dialog').getByRole('button', { name: /^Add/ }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
}
