import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, type Page, type Request } from '@playwright/test'
import type axe from 'axe-core'

declare global {
  interface Window {
    axe?: typeof axe
  }
}

const source = readFileSync(fileURLToPath(new URL('../node_modules/axe-core/axe.min.js', import.meta.url)), 'utf8')

const languages = ['vi', 'zh-Hant', 'en']

/** The axe rules that run in each language. */
const everything: axe.RunOptions = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  resultTypes: ['violations'],
}

/** The axe rules that run in each theme: the themes differ only in colours. */
const colours: axe.RunOptions = {
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
  resultTypes: ['violations'],
}

/**
 * Checks the accessibility of a screen in every language and both themes. All rules run once in each language, and those on
 * colours again in the other theme. Afterwards the screen is in English.
 */
export async function checkAccessibility(page: Page, what: string): Promise<void> {
  await prepare(page)
  const found: string[] = []
  for (const [n, language] of languages.entries()) {
    await show(page, language)
    // Every second language starts with the theme of the previous one, which saves one change of the theme.
    const themes = n % 2 === 0 ? (['light', 'dark'] as const) : (['dark', 'light'] as const)
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme })
      const wrong = await violations(page, theme === themes[0] ? everything : colours)
      found.push(...wrong.map((w) => `${what} in ${language}, ${theme}: ${w}`))
    }
  }
  expect(found).toEqual([])
}

/** The violations of a page with one language that follows the device's theme. */
export async function pageViolations(page: Page): Promise<string[]> {
  await prepare(page)
  const found = await violations(page, everything)
  await page.emulateMedia({ colorScheme: 'dark' })
  return [...found, ...(await violations(page, colours))]
}

/** Loads axe-core into a page once, and turns off the page's transitions. */
async function prepare(page: Page): Promise<void> {
  const there = await page.evaluate(() => {
    if (window.axe) return true
    // An inherited colour causes one transition per element, and thousands of them take seconds.
    const still = new CSSStyleSheet()
    still.replaceSync('*, ::before, ::after { transition: none !important }')
    document.adoptedStyleSheets.push(still)
    return false
  })
  // The page's security policy forbids a script element, but not page.evaluate.
  if (!there) await page.evaluate(source)
}

/**
 * Waits until no animation runs on a page, such as a change of colours. A label that floats above its field starts to move
 * some frames after the text has changed, so several consecutive frames must be still. The ripple of a pressed button
 * disappears after a timer, and until then axe takes it for the background of a dialog above the button.
 */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let still = 0; still < 4; still++) {
      await new Promise(requestAnimationFrame) // by then, a change of the theme has reached the page
      const moving = document.getAnimations().filter((a) =>
        a.playState === 'running' && Number.isFinite(a.effect?.getComputedTiming().endTime))
      if (moving.length === 0 && !document.querySelector('.v-ripple__animation')) continue
      still = -1
      await Promise.allSettled(moving.map((a) => a.finished))
    }
  })
}

/** Runs axe-core in a settled page. A horizontal overflow is a violation too. */
async function violations(page: Page, options: axe.RunOptions): Promise<string[]> {
  await settle(page)
  return page.evaluate(async (o) => {
    const results = await window.axe?.run(document, o)
    if (!results) throw new Error('there is no axe-core in the page')
    const wrong = results.violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target.join(' ')} ${n.failureSummary ?? ''}`).join('; ')}`)
    const over = document.documentElement.scrollWidth - innerWidth
    return over > 0 ? [...wrong, `too wide by ${String(over)} pixels`] : wrong
  }, options)
}

/** Shows a page in a language and waits for the requests in that language. An open dialog stays open. */
async function show(page: Page, language: string): Promise<void> {
  await page.evaluate(async (l) => {
    if (location.pathname.startsWith('/console')) {
      // Behaves like a choice of the language in another window.
      dispatchEvent(new StorageEvent('storage', { key: 'comanda.staff.language', newValue: l }))
    } else {
      const select = document.querySelector<HTMLSelectElement>('.language select')
      if (!select) throw new Error('there is no choice of languages')
      select.value = l
      select.dispatchEvent(new Event('change'))
    }
  }, language)
  await expect(page.locator('html')).toHaveAttribute('lang', language)
  await waitForRequests(page)
}

const pending = new WeakMap<Page, Set<Request>>()

/** Records the unanswered requests of a page, except streams, which do not end. */
export function listen(page: Page): void {
  const open = new Set<Request>()
  pending.set(page, open)
  page.on('request', (r) => {
    if (r.resourceType() === 'fetch' && !r.url().endsWith('/events')) open.add(r)
  })
  page.on('requestfinished', (r) => open.delete(r))
  page.on('requestfailed', (r) => open.delete(r))
}

/** Waits until all requests of a page are answered. */
async function waitForRequests(page: Page): Promise<void> {
  await page.evaluate(() => new Promise(requestAnimationFrame)) // by then the page has sent its requests
  await expect.poll(() => [...(pending.get(page) ?? [])].map((r) => r.url()), { intervals: [20] }).toEqual([])
}
