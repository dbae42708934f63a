// Takes the place of worker.js on a server that has the worker turned off: phones replace theirs by this one, which
// deletes what it kept and removes itself.
self.addEventListener('install', () => void self.skipWaiting())

self.addEventListener('activate', (event) => {
  event.waitUntil(
    caches.keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith('guest-')).map((name) => caches.delete(name))))
      .then(() => self.registration.unregister()),
  )
})
