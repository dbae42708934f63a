import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin } from 'vite'
import vuetify from 'vite-plugin-vuetify'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Each page is built for itself, `vite build --mode guest` and then `--mode staff`, so that nothing of what staff need
// can reach a guest's phone, not even within what both have in common. The first one empties the folder.
const pages = ['guest', 'staff']

// The server whose API `npm run dev` works with.
const server = process.env.COMANDA_SERVER ?? 'http://127.0.0.1:8080'
const api = ['api', 'auth', 'branches', 'cart', 'categories', 'cis', 'dishes', 'me', 'media', 'orders', 'pay', 'payment', 'sim']

/** Writes the console's worker, with the names of all files of its release: an older page needs the older files. */
const worker: Plugin = {
  name: 'console-worker',
  generateBundle(_, bundle) {
    const files = Object.keys(bundle).filter((name) => name.startsWith('assets/')).sort().map((name) => `/${name}`)
    const page = bundle['staff.html']
    const version = createHash('sha256').update(JSON.stringify([files, page && 'source' in page ? page.source : '']))
    const source = readFileSync(at('staff/worker.js'), 'utf8')
      .replace('__VERSION__', version.digest('hex').slice(0, 12)).replace('__FILES__', JSON.stringify(files))
    this.emitFile({ type: 'asset', fileName: 'console/worker.js', source })
  },
}

export default defineConfig(({ mode }) => ({
  plugins: [
    vue(),
    mode === 'guest' ? [] : vuetify(),
    mode === 'staff' ? worker : [],
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
    cssCodeSplit: mode !== 'guest', // a screen whose style could not be fetched would be shown without
    assetsInlineLimit: 0, // the policy of contents allows no scripts and styles but files
    modulePreload: { polyfill: false },
    rolldownOptions: { input: pages.filter((p) => !pages.includes(mode) || p === mode).map((p) => at(`${p}.html`)) },
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(api.map((path) => [`^/${path}(/|$|\\?)`, { target: server }])),
  },
}))
