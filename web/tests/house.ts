import AxeBuilder from '@axe-core/playwright'
import { expect, test as base, type Page } from '@playwright/test'

import { Server } from './server'

/** Tests with a server of their file's own. A page that logs an error, such as a breach of the policy, fails its test. */
export const test = base.extend<{ guarded: undefined }, { file: string; server: Server }>({
  // Whoever is not said to be of another file than the one before would be given its server.
  file: ['', { option: true, scope: 'worker' }],
  server: [
    async ({ file }, use) => {
      if (!file) throw new Error('the file has to say its name: test.use({ file })')
      const server = await new Server().start()
      await use(server)
      await server.remove()
    },
    { scope: 'worker' },
  ],
  guarded: [
    async ({ page }, use) => {
      const errors: string[] = []
      page.on('pageerror', (e) => errors.push(String(e)))
      page.on('console', (m) => {
        // A network that was cut on purpose is no mistake of the page.
        if (m.type() === 'error' && !m.text().includes('Failed to load resource')) errors.push(m.text())
      })
      await use(undefined)
      expect(errors).toEqual([])
    },
    { auto: true },
  ],
})

export { expect }

/** Opens a table's link and waits for the restaurant's page. */
export async function sitDown(page: Page, server: Server, label: string): Promise<void> {
  await page.goto((await server.table(label)).link)
  await expect(page.getByRole('link', { name: /Start ordering|Go on ordering/ })).toBeVisible()
}

/** Puts a dish into the cart. */
export async function add(page: Page, name: string, note = ''): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
  if (note) await page.getByLabel('Note for the kitchen').fill(note)
  await page.getByRole('button', { name: /^Add/ }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
}

/** Fails on what keeps people from using a page. */
export async function wantAccessible(page: Page, what: string, only: 'contrast' | 'everything' = 'everything'): Promise<void> {
  const axe = new AxeBuilder({ page })
  if (only === 'contrast') axe.withRules(['color-contrast', 'link-in-text-block'])
  else axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
  const { violations } = await axe.analyze()
  const found = violations
    .filter((v) => v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target.join(' ')} ${n.failureSummary ?? ''}`).join('; ')}`)
  expect(found, what).toEqual([])
}
