/** Registers an app's service worker; undefined where there cannot be one. */
export async function register(url: string, scope: string): Promise<ServiceWorkerRegistration | undefined> {
  if (!('serviceWorker' in navigator)) return undefined
  try {
    return await navigator.serviceWorker.register(trusted(url), { scope })
  } catch {
    return undefined // a private window, or a server without a certificate
  }
}

/** The address of a worker is one of the texts that a browser only takes from a policy with a name. */
function trusted(url: string): string {
  const types = (window as { trustedTypes?: { createPolicy: (name: string, rules: object) => Policy } }).trustedTypes
  return (types?.createPolicy('comanda-worker', { createScriptURL: (u: string) => u }).createScriptURL(url) ?? url) as string
}

interface Policy {
  createScriptURL: (url: string) => unknown
}
