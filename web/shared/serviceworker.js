// Caches an app's own files on the device, so that the app opens while the server is unreachable. It never caches answers
// of the API: all other requests pass by this worker. vite.config.ts writes a copy for each app, with its release.
const { prefix, version, page, pages, files, newestPage, notices } = __RELEASE__
const patience = 4000 // ms to wait for the server's page if a cached one exists

const kept = new Set(files)
const ofApp = new RegExp(pages)

self.addEventListener('install', (event) => {
  const fetched = [page, ...files].map((url) => new Request(url, { cache: url === page ? 'reload' : 'default' }))
  event.waitUntil(caches.open(prefix + version).then((cache) => cache.addAll(fetched)))
  if (newestPage) void self.skipWaiting()
})

// The page that installed the first worker is claimed: a kitchen's screen is never reloaded, and without a worker the next release
// would not wait for its consent.
self.addEventListener('activate', (event) => {
  event.waitUntil(forgetOld().then(() => self.clients.claim()))
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

// Shows a notice that the server sends while the page is closed. A second notice of an order replaces the first one, and is
// announced like it: a guest who has seen "accepted" must notice "ready". A notice without a tag must not ask for that.
self.addEventListener('push', (event) => {
  const notice = event.data?.json() ?? {}
  const texts = notices[notice.locale] ?? notices.en
  const title = (texts[notice.kind] ?? texts.other).replace('{number}', notice.number ?? '')
  const options = {
    tag: notice.order, renotify: Boolean(notice.order), icon: '/app/icon-192.png', lang: notice.locale, data: notice.url ?? page,
  }
  event.waitUntil(self.registration.showNotification(title, options))
})

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(show(new URL(event.notification.data, location.origin)))
})

// Shows a page: in the tab that already has it, else in another tab of the app, which opens the page by itself, else in a new tab.
async function show(to) {
  const tabs = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const same = tabs.find((tab) => tab.url === to.href)
  if (same) return same.focus()
  const other = tabs.find((tab) => ofApp.test(new URL(tab.url).pathname))
  if (!other) return self.clients.openWindow(to.href)
  other.postMessage({ open: to.pathname })
  return other.focus()
}

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
