// The console's local storage. Without storage, values last until the next reload.
const prefix = 'comanda.staff.'
const unkept = new Map<string, string>() // values that could not be stored

export function recall(key: string): string | null {
  const value = unkept.get(key)
  if (value !== undefined) return value
  try {
    return localStorage.getItem(prefix + key)
  } catch {
    return null
  }
}

/** Stores a value; null removes it. */
export function remember(key: string, value: string | null): void {
  unkept.delete(key)
  try {
    if (value === null) localStorage.removeItem(prefix + key)
    else localStorage.setItem(prefix + key, value)
  } catch {
    if (value !== null) unkept.set(key, value)
  }
}

/** Calls back when another tab changes the value of a key. */
export function onKept(key: string, changed: (value: string | null) => void): void {
  addEventListener('storage', (e) => {
    if (e.key === prefix + key) changed(e.newValue)
  })
}
