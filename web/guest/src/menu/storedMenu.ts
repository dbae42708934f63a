import type { Menu } from '../api/dto'

// Stores the last shown menu on the phone, for a start without a network. It contains no token and no data of the guest.
const key = 'comanda.menu'

interface Kept {
  schemaVersion: 1
  branchId: string
  language: string
  at: string // an instant
  menu: Menu
}

/** Stores the menu of a branch in a language and replaces the previous one. */
export function storeMenu(branchId: string, language: string, menu: Menu, at: string): void {
  try {
    localStorage.setItem(key, JSON.stringify({ schemaVersion: 1, branchId, language, at, menu } satisfies Kept))
  } catch {
    // The storage is full or forbidden, so there is no menu while offline.
  }
}

/** The stored menu of a branch, with its language and the time when it was shown. */
export function storedMenu(branchId: string): { menu: Menu; at: string } | undefined {
  try {
    const k = JSON.parse(localStorage.getItem(key) ?? '') as Partial<Kept> | null
    const sound =
      k?.schemaVersion === 1 && k.branchId === branchId && typeof k.at === 'string' && !Number.isNaN(Date.parse(k.at)) &&
      typeof k.menu?.menuVersionId === 'string' && typeof k.menu.currency === 'string' && Array.isArray(k.menu.categories) &&
      k.menu.categories.every((c) => Array.isArray(c.items))
    // A pause may have ended since, and the opening state depends on the current time.
    return sound ? { menu: { ...k.menu, paused: null, closed: null, hoursChange: null, menuChange: undefined } as unknown as Menu, at: k.at as string } : undefined
  } catch {
    return undefined
  }
}
