import { ref } from 'vue'

import { register } from '@shared/worker'

/** Whether a newer release of the console than this page's is installed. False again if the user closes the notice of it. */
export const updated = ref(false)

const scope = '/console/'
let registration: ServiceWorkerRegistration | undefined
let asking = false
const checkInterval = 30 * 60_000 // ms between two checks for a new release, because a kitchen's screen is never reloaded
const patience = 3000 // ms to wait until a new release is active; it takes half a second

/** Registers the service worker that caches the console's files. The console works without it too. */
export async function registerWorker(): Promise<void> {
  const registered = await register('/console/worker.js', scope)
  if (!registered) return
  registration = registered
  const { serviceWorker } = navigator
  const look = () => {
    // The first one has nothing to replace. If another tab activates the release, this page is still older than it.
    if (registered.waiting && serviceWorker.controller) updated.value = true
  }
  look()
  // The first controller has this page's release. If a second one follows, another tab has activated a release, and the files of
  // this page's release are deleted.
  let controlled = serviceWorker.controller !== null
  serviceWorker.addEventListener('controllerchange', () => {
    if (controlled) updated.value = true
    controlled = true
  })
  registered.addEventListener('updatefound', () => registered.installing?.addEventListener('statechange', look))
  setInterval(() => void registered.update().catch(() => undefined), checkInterval)
}

/**
 * Activates the new release in all tabs and reloads the page. Chromium delays the activation for minutes if the
 * page sends a request while the old worker stops, as a board that reconnects does: the request starts that worker again,
 * and asking once more has no effect. Then the worker is removed, and the page comes from the server and registers the new one.
 */
export function takeOver(): void {
  if (!registration || asking) return
  asking = true
  const { waiting } = registration
  if (!waiting) { // another tab has activated it
    location.reload()
    return
  }
  const timer = setInterval(() => void replace().catch(() => undefined), patience) // tried again without a network
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    clearInterval(timer)
    location.reload()
  }, { once: true })
  waiting.postMessage('take over')
}

/**
 * Reloads the page from the server, without the worker unless the new release has become active. It fails without a network.
 * It asks for the registration again, because another tab may have removed the one of this page.
 */
async function replace(): Promise<void> {
  const current = await navigator.serviceWorker.getRegistration(scope)
  if (current?.waiting) {
    await current.update() // fails without a network
    await current.unregister()
  }
  location.reload()
}
