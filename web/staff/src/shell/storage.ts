// The console's local storage. Without storage, values last until the next reload.
const prefix = 'comanda.staff.'

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(prefix + key)
  } catch {
    return null
  }
}

/** Stores a value; null removes it. */
export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(prefix + key)
    else localStorage.setItem(prefix + key, value)
  } catch {
    // Without storage, the value lasts until the next reload.
  }
}

/** Calls back when another tab changes the value of a key. */
export function onKept(key: string, changed: (value: string | null) => void): void {
  addEventListener('storage', (e) => {
    if (e.key === prefix + key) changed(e.newValue)
  })
}
