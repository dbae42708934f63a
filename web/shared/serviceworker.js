// Caches an app's own files on the device, so that the app opens while the server is unreachable. It never caches answers
// of the API: all other requests pass by this worker. vite.config.ts writes a copy for each app, with its release.
const { prefix, version, page, pages, files, newestPage } = __RELEASE__
const patience = 4000 // ms to wait for the server's page if a cached one exists

const kept = new Set(files)
const ofApp = new RegExp(pages)

self.addEventListener('install', (event) => {
  const fetched = [page, ...files].map((url) => new Request(url, { cache: url === page ? 'reload' : 'default' }))
  event.waitUntil(caches.open(prefix + version).then((cache) => cache.addAll(fetched)))
  if (newestPage) void self.skipWaiting()
})

self.addEventListener('activate', (event) => {
  event.waitUntil(forgetOld().then(() => newestPage && self.clients.claim()))
})

// Deletes the caches of old releases. A worker that takes over at once keeps the previous release for pages that are still open.
async function forgetOld() {
  const old = (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== prefix + version)
  await Promise.all(old.slice(0, newestPage ? -1 : old.length).map((name) => caches.delete(name)))
}

// The app sends this message when the user agrees to load a new release.
self.addEventListener('message', (event) => {
  if (event.data === 'take over') void self.skipWaiting()
})

// A tap on a notification opens its page, in the tab that already shows it if there is one.
self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const to = new URL(event.notification.data, location.origin).href
  event.waitUntil(
    self.clients.matchAll({ type: 'window', includeUncontrolled: true })
      .then((open) => open.find((client) => client.url === to)?.focus() ?? self.clients.openWindow(to)),
  )
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (request.mode === 'navigate') {
    if (ofApp.test(pathname)) event.respondWith(newestPage ? fromServer(request) : fromCache(request, page))
  } else if (kept.has(pathname) || (newestPage && pathname.startsWith('/assets/'))) {
    event.respondWith(fromCache(request, pathname))
  }
})

async function fromCache(request, url) {
  const found = await (await caches.open(prefix + version)).match(url)
  return found ?? (await caches.match(url)) ?? fetch(request)
}

/** Returns the server's page, or the cached one if the server is unreachable, broken or slow. */
async function fromServer(request) {
  const answer = fetch(request)
  const late = new Promise((resolve) => setTimeout(resolve, patience))
  const got = await Promise.race([answer, late]).catch(() => undefined)
  if (got && got.status < 500) return got
  const found = await (await caches.open(prefix + version)).match(page)
  if (!found) return answer
  answer.catch(() => undefined)
  return found
}
