/** Registers an app's service worker; undefined if the browser allows none. */
export async function register(url: string, scope: string): Promise<ServiceWorkerRegistration | undefined> {
  if (!('serviceWorker' in navigator)) return undefined
  try {
    return await navigator.serviceWorker.register(trusted(url), { scope })
  } catch {
    return undefined // a private window, or a server without a certificate
  }
}

/** The worker's address as a trusted URL: the trusted-types policy accepts no plain text for it. */
function trusted(url: string): string {
  const types = (window as { trustedTypes?: { createPolicy: (name: string, rules: object) => Policy } }).trustedTypes
  return (types?.createPolicy('comanda-worker', { createScriptURL: (u: string) => u }).createScriptURL(url) ?? url) as string
}

interface Policy {
  createScriptURL: (url: string) => unknown
}
