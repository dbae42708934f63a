import { ref } from 'vue'

import { register } from '@shared/worker'

/** Whether a new release of the console is installed and waits for activation. */
export const updated = ref(false)

let waiting: ServiceWorker | null = null
const checkInterval = 30 * 60_000 // ms between two checks for a new release, because a kitchen's screen is never reloaded

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
  setInterval(() => void registration.update().catch(() => undefined), checkInterval)
}

/** Activates the new release in all tabs. */
export function takeOver(): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    location.reload()
  })
  waiting?.postMessage('take over')
}
