// Fails if a phone has to fetch more than the limits below. Sizes are those of gzip -9, in kB of 1000 bytes.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

import { dist } from './dist.mjs'

const budgets = {
  guest: { js: 90, css: 15, first: 300, images: 6 },
  staff: { js: 100, css: 10, first: 150, images: 0 },
}

const menu = 40 // kB; the limit of the menu's own files
const pictures = fileURLToPath(new URL('../../internal/demo/pictures/', import.meta.url))
const kB = (bytes) => Math.round(bytes / 100) / 10
const zipped = (path) => gzipSync(readFileSync(path), { level: 9 }).length

/** The files that a page fetches before it can show anything: those that it names, and those that these scripts import. */
function entry(page) {
  const found = new Set()
  const visit = (name) => {
    if (found.has(name) || !existsSync(dist + name)) return
    found.add(name)
    if (!name.endsWith('.js')) return
    const code = readFileSync(dist + name, 'utf8')
    for (const [, at] of code.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) visit(`assets/${at}`)
  }
  const html = readFileSync(dist + page, 'utf8')
  for (const [, at] of html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)) visit(at)
  return [...found]
}

/** All files that a page may ever fetch: its entry and the files that the entry loads later. */
function reached(page) {
  const found = new Set(entry(page).filter((n) => n.endsWith('.js')))
  for (const name of found) {
    const code = readFileSync(dist + name, 'utf8')
    for (const [, at] of code.matchAll(/["'`](?:\.\/|assets\/)([\w.-]+\.js)["'`]/g)) {
      if (existsSync(`${dist}assets/${at}`)) found.add(`assets/${at}`)
    }
  }
  return [...found]
}

const sum = (names, ending) =>
  names.filter((n) => n.endsWith(ending)).reduce((bytes, n) => bytes + zipped(dist + n), 0)

let failed = false

// The console's modules never reach a guest, not even later.
const strange = existsSync(`${dist}guest.html`) ? reached('guest.html').filter((n) => /vuetify/.test(readFileSync(dist + n, 'utf8'))) : []
if (strange.length > 0) {
  failed = true
  process.stdout.write(`guest: has what is for staff: ${strange.join(', ')}\n`)
}

// The login does not wait for Vuetify and the query cache. Class names identify them in the minified files.
const early = existsSync(`${dist}staff.html`) ? entry('staff.html').filter((n) => /v-btn|v-application|vuetify|VUE_QUERY/.test(readFileSync(dist + n, 'utf8'))) : []
if (early.length > 0) {
  failed = true
  process.stdout.write(`staff: the login loads Vuetify or the query cache: ${early.join(', ')}\n`)
}
for (const [name, budget] of Object.entries(budgets)) {
  if (!existsSync(`${dist}${name}.html`)) continue
  const names = entry(`${name}.html`)
  const largest = readdirSync(pictures).map((p) => zipped(pictures + p)).sort((a, b) => b - a)
  const shown = largest.slice(0, budget.images).reduce((a, b) => a + b, 0)
  const sizes = { js: kB(sum(names, '.js')), css: kB(sum(names, '.css')) }
  // Every page loads one catalogue of texts, and the guests' first page also loads the menu.
  const texts = kB(Math.max(0, ...reached(`${name}.html`).filter((n) => /\/(vi|en|zh-Hant)-/.test(n)).map((n) => zipped(dist + n))))
  const menus = budget.images > 0 ? menu + kB(shown) : 0
  sizes.first = Math.round((sizes.js + sizes.css + texts + menus + kB(zipped(`${dist}${name}.html`))) * 10) / 10
  for (const what of ['js', 'css', 'first']) {
    const over = sizes[what] > budget[what]
    failed ||= over
    process.stdout.write(`${name} ${what}: ${sizes[what]} kB of ${budget[what]} kB${over ? '  TOO MUCH' : ''}\n`)
  }
}

// The chart library is loaded with the first report, never earlier.
const charts = 220
const drawn = existsSync(`${dist}assets`) ? readdirSync(`${dist}assets`).filter((n) => /^echarts-[\w-]+\.js$/.test(n)) : []
for (const name of drawn) {
  const size = kB(zipped(`${dist}assets/${name}`))
  const early = entry('staff.html').includes(`assets/${name}`)
  failed ||= size > charts || early
  process.stdout.write(`charts: ${size} kB of ${charts} kB${size > charts || early ? '  TOO MUCH' : ''}${early ? ' and too early' : ''}\n`)
}
process.exitCode = failed ? 1 : 0
