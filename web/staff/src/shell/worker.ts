import { ref } from 'vue'

/** Whether a new release of the console waits until it may take over. */
export const updated = ref(false)

let waiting: ServiceWorker | null = null
const often = 30 * 60_000 // ms between two looks for a new release; a kitchen's screen is never reloaded

/** Registers the worker that keeps the console's files. Without one the console works as well. */
export async function registerWorker(): Promise<void> {
  if (!('serviceWorker' in navigator)) return
  try {
    const registration = await navigator.serviceWorker.register(trusted('/console/worker.js'), { scope: '/console/' })
    const look = () => {
      waiting = registration.waiting
      // The first one has nothing to replace.
      updated.value = waiting !== null && navigator.serviceWorker.controller !== null
    }
    look()
    registration.addEventListener('updatefound', () => registration.installing?.addEventListener('statechange', look))
    setInterval(() => void registration.update().catch(() => undefined), often)
  } catch {
    // A private window, or a server without a certificate.
  }
}

/** Goes over to the new release, in all tabs. */
export function takeOver(): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    location.reload()
  })
  waiting?.postMessage('take over')
}

/** The address of a worker is one of the texts that a browser only takes from a policy with a name. */
function trusted(url: string): string {
  const types = (window as { trustedTypes?: { createPolicy: (name: string, rules: object) => Policy } }).trustedTypes
  return (types?.createPolicy('comanda-worker', { createScriptURL: (u: string) => u }).createScriptURL(url) ?? url) as string
}

interface Policy {
  createScriptURL: (url: string) => unknown
}
