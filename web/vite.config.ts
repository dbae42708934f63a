import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import vue from '@vitejs/plugin-vue'
import { PurgeCSS } from 'purgecss'
import { defineConfig, type Plugin, type Rolldown } from 'vite'
import vuetify from 'vite-plugin-vuetify'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Each app is built separately, `vite build --mode guest` and then `--mode staff`, so that no code of the console reaches
// a guest's phone, not even in shared files. The first build empties the folder.
const pages = ['guest', 'staff']

// The server whose API `npm run dev` uses.
const server = process.env.COMANDA_SERVER ?? 'http://127.0.0.1:8080'
const api = ['api', 'auth', 'branches', 'cart', 'categories', 'cis', 'dishes', 'me', 'media', 'orders', 'pay', 'payment', 'sim']

/** The parameters of shared/serviceworker.js for one app. */
interface Kept {
  prefix: string // of the names of its caches
  page: string // the app's page, served at every address that matches `pages`
  pages: string
  newestPage: boolean // true: the page comes from the server whenever it answers; false: the user chooses when to load a new release
  skip?: RegExp // modules whose files are fetched on demand, not in advance
}

const kept: Record<string, Kept & { to: string }> = {
  guest: { to: 'app/worker.js', prefix: 'guest-', page: '/app', pages: '^/(app|m|shop)(/|$)', newestPage: true, skip: /\/guest\/src\/member\// },
  staff: { to: 'console/worker.js', prefix: 'console-', page: '/console/', pages: '^/console/', newestPage: false },
}

/** Writes an app's service worker with the file names of its release: an older page needs the older files. */
function worker(mode: string): Plugin {
  return {
    name: 'worker',
    generateBundle(_, bundle) {
      const app = kept[mode]
      if (!app) return
      const { to, skip, ...release } = app
      const files = reached(bundle, skip).filter((name) => name.startsWith('assets/')).sort().map((name) => `/${name}`)
      const page = bundle[`${mode}.html`]
      const source = readFileSync(at('shared/serviceworker.js'), 'utf8')
      const notices = mode === 'guest' ? noticeTexts() : {}
      const version = createHash('sha256').update(JSON.stringify([source, files, page && 'source' in page ? page.source : '', notices]))
      const written = JSON.stringify({ ...release, version: version.digest('hex').slice(0, 12), files, notices })
      this.emitFile({ type: 'asset', fileName: to, source: source.replace('__RELEASE__', () => written) })
      if (mode === 'guest') {
        this.emitFile({ type: 'asset', fileName: 'app/unregister.js', source: readFileSync(at('guest/unregister.js')) })
      }
    },
  }
}

/** The texts of notices by language and kind, for a service worker that shows one while no page is open. */
function noticeTexts(): Record<string, Record<string, string | undefined>> {
  const of = (language: string) => {
    const all = JSON.parse(readFileSync(at(`shared/i18n/${language}.json`), 'utf8')) as Record<string, string>
    return {
      ORDER_PAID: all['notice.paid'], ORDER_READY: all['notice.ready'], ORDER_CANCELED: all['notice.canceled'],
      ORDER_EXPIRED: all['notice.expired'], ORDER_REFUNDED: all['notice.refunded'], other: all['notice.title'],
    }
  }
  return Object.fromEntries(['en', 'vi', 'zh-Hant'].map((language) => [language, of(language)]))
}

/** The names of styles and other files, and of the scripts that the entry can reach without the skipped modules. */
function reached(bundle: Rolldown.OutputBundle, skip?: RegExp): string[] {
  const found = new Set(Object.keys(bundle).filter((name) => bundle[name]?.type !== 'chunk'))
  const visit = (name: string): void => {
    const part = bundle[name]
    if (part?.type !== 'chunk' || found.has(name) || skip?.test(part.facadeModuleId ?? '')) return
    found.add(name)
    for (const next of [...part.imports, ...part.dynamicImports]) visit(next)
  }
  for (const [name, part] of Object.entries(bundle)) if (part.type === 'chunk' && part.isEntry) visit(name)
  return [...found]
}

/**
 * Names the files of the console's frame in its page. The server lets browsers load them together with the entry on all pages
 * that have the frame (internal/web); otherwise they would be requested when the entry runs.
 */
function framePreload(): Plugin {
  return {
    name: 'frame-preload',
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle = {} }) {
        const files = new Set<string>()
        const visit = (part: (typeof bundle)[string] | undefined): void => {
          if (part?.type !== 'chunk' || files.has(part.fileName)) return
          files.add(part.fileName)
          part.viteMetadata?.importedCss.forEach((css) => files.add(css))
          for (const name of part.imports) visit(bundle[name])
        }
        const parts = Object.values(bundle)
        // The entry comes first: it starts the requests for the session and the page's data.
        visit(parts.find((part) => part.type === 'chunk' && part.isEntry))
        const frame = parts.find((part) => part.type === 'chunk' && part.name === 'frameParts')
        if (!frame) throw new Error('the build has no chunk frameParts')
        visit(frame)
        const content = [...files].map((name) => `/${name}`).join(' ')
        return [{ tag: 'meta', attrs: { name: 'frame', content }, injectTo: 'head' }]
      },
    },
  }
}

/**
 * Removes the utility classes of Vuetify that neither the console nor Vuetify's components name. They are nine tenths of the
 * console's styles, and the browser draws nothing before the styles have loaded. Classes that components build from a
 * property, such as rounded-lg, are kept.
 */
function usedUtilities(): Plugin {
  return {
    name: 'used-utilities',
    enforce: 'pre',
    async transform(css, id) {
      if (!id.includes('/vuetify/lib/styles/utilities.css')) return
      const [kept] = await new PurgeCSS().purge({
        content: ['staff.html', 'staff/src/**/*.{vue,ts}', 'node_modules/vuetify/lib/{components,composables,directives}/**/*.js'].map(at),
        css: [{ raw: css }],
        safelist: { greedy: [/^\.?(rounded|elevation|border|position)(-|$)/] },
      })
      return { code: kept?.css ?? css, map: null }
    },
  }
}

export default defineConfig(({ mode }) => ({
  plugins: [
    vue(),
    mode === 'guest' ? [] : [vuetify(), usedUtilities()],
    worker(mode),
    mode === 'staff' ? framePreload() : [],
    {
      name: 'pages-under-their-paths',
      configureServer(dev) {
        dev.middlewares.use((request, _, next) => {
          if (/^\/(app|m|shop)(\/|$|\?)|^\/$/.test(request.url ?? '')) request.url = '/guest.html'
          if (/^\/console(\/|$|\?)/.test(request.url ?? '')) request.url = '/staff.html'
          next()
        })
      },
    },
  ],
  publicDir: mode === 'staff' ? 'staff/public' : 'guest/public',
  resolve: { alias: { '@shared': at('shared') } },
  build: {
    target: 'es2022',
    outDir: at('../internal/web/dist'),
    emptyOutDir: mode !== 'staff',
    cssCodeSplit: mode !== 'guest', // with split styles, a screen would appear unstyled if its style could not be fetched
    assetsInlineLimit: 0, // the content security policy allows scripts and styles only as files
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600, // only reports load the charts; scripts/budget.mjs has the real limits
    rolldownOptions: {
      checks: { pluginTimings: false }, // a build should print only problems
      input: pages.filter((p) => !pages.includes(mode) || p === mode).map((p) => at(`${p}.html`)),
    },
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(api.map((path) => [`^/${path}(/|$|\\?)`, { target: server }])),
  },
}))
