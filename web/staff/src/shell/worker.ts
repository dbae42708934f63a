import { ref } from 'vue'

import { register } from '@shared/worker'

/** Whether a new release of the console waits until it may take over. */
export const updated = ref(false)

let waiting: ServiceWorker | null = null
const often = 30 * 60_000 // ms between two looks for a new release; a kitchen's screen is never reloaded

/** Registers the service worker that caches the console's files. The console works without it too. */
export async function registerWorker(): Promise<void> {
  const registration = await register('/console/worker.js', '/console/')
  if (!registration) return
  const look = () => {
    waiting = registration.waiting
    // The first one has nothing to replace.
    updated.value = waiting !== null && navigator.serviceWorker.controller !== null
  }
  look()
  registration.addEventListener('updatefound', () => registration.installing?.addEventListener('statechange', look))
  setInterval(() => void registration.update().catch(() => undefined), often)
}

/** Goes over to the new release, in all tabs. */
export function takeOver(): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    location.reload()
  })
  waiting?.postMessage('take over')
}
