// Served instead of worker.js if the server has the worker turned off. Phones install this version, which deletes the
// stored files and unregisters itself.
self.addEventListener('install', () => void self.skipWaiting())

self.addEventListener('activate', (event) => {
  event.waitUntil(
    caches.keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith('guest-')).map((name) => caches.delete(name))))
      .then(() => self.registration.unregister()),
  )
})
