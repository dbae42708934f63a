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

const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** All rules of WCAG 2.2, levels A and AA. */
const everything: axe.RunOptions = { runOnly: { type: 'tag', values: levels }, resultTypes: ['violations'] }

/** The rules that depend on the theme: the themes differ only in colours. */
const colours: axe.RunOptions = {
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
  resultTypes: ['violations'],
}

/** The rules that depend on the language: it changes only texts, so a name may be missing or its language not declared. */
const texts: axe.RunOptions = {
  runOnly: {
    type: 'rule',
    values: [
      'aria-command-name', 'aria-dialog-name', 'aria-input-field-name', 'aria-toggle-field-name', 'button-name', 'html-has-lang',
      'html-lang-valid', 'image-alt', 'input-button-name', 'label', 'link-name', 'select-name', 'valid-lang',
    ],
  },
  resultTypes: ['violations'],
}

/**
 * Checks the accessibility of a screen in every language and both themes. Every screen must fit in each language; rules that
 * depend on neither the language nor the theme run once. Afterwards the screen is in English and follows the light theme.
 */
export async function checkAccessibility(page: Page, what: string): Promise<void> {
  await prepare(page)
  const found: string[] = []
  const check = async (how: string, rules: axe.RunOptions) => {
    found.push(...(await violations(page, rules)).map((w) => `${what} ${how}: ${w}`))
  }
  for (const language of ['vi', 'zh-Hant']) {
    await show(page, language)
    await check(`in ${language}`, texts)
  }
  await show(page, 'en')
  await page.emulateMedia({ colorScheme: 'dark' })
  await check('in the dark theme', colours)
  await page.emulateMedia({ colorScheme: 'light' })
  await check('in English', everything)
  expect(found).toEqual([])
}

/** Checks what only best practice asks for: headings skip no level, and landmarks and lists of buttons have names of their own. */
export async function checkStructure(page: Page, what: string): Promise<void> {
  await prepare(page)
  await settle(page)
  const found = await page.evaluate(async () => {
    const rules = ['heading-order', 'landmark-unique', 'aria-prohibited-attr', 'aria-allowed-attr']
    const results = await window.axe?.run(document, { runOnly: { type: 'rule', values: rules } })
    if (!results) throw new Error('there is no axe-core in the page')
    return results.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join('; ')}`)
  })
  expect(found, what).toEqual([])
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
