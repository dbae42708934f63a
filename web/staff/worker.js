// Keeps the console's own files on the device, so that it opens at once and while the server is away. What the server
// knows is never kept: every other request goes the way it would go without this worker.
const version = '__VERSION__'
const page = '/console/'
const files = new Set(__FILES__)
const prefix = 'console-'

self.addEventListener('install', (event) => {
  const fetched = [page, ...files].map((url) => new Request(url, { cache: url === page ? 'reload' : 'default' }))
  event.waitUntil(caches.open(prefix + version).then((cache) => cache.addAll(fetched)))
})

// The former release goes when nobody uses it any more.
self.addEventListener('activate', (event) => {
  const old = (name) => name.startsWith(prefix) && name !== prefix + version
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))))
})

// The user decides when the new release replaces this one.
self.addEventListener('message', (event) => {
  if (event.data === 'take over') void self.skipWaiting()
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  const kept = request.mode === 'navigate' ? page : files.has(pathname) ? pathname : undefined
  if (!kept) return
  event.respondWith(
    caches.open(prefix + version).then((cache) => cache.match(kept)).then((found) => found ?? fetch(request)),
  )
})
