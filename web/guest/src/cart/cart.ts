import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import { newTxnId } from '@shared/txn'

import type { MenuItem, OrderLine } from '../api/dto'
import { useMenu } from '../menu/menu'
import { useSession } from '../table/session'
import { keyOf, mostLines, mostPerLine, type CartLine, type ShownLine } from './line'

/** The guest's cart. The session stores it, so that it survives a reload. */
export const useCart = defineStore('cart', () => {
  const session = useSession()
  const menu = useMenu()
  const vanished = ref<string[]>([]) // names of dishes that are not on the current menu

  const lines = computed<CartLine[]>(() => session.draft?.cartDraft ?? [])
  const shown = computed<ShownLine[]>(() => {
    const taken = new Map<string, number>()
    return lines.value.map((line) => {
      const item = menu.item(line.itemId)
      const before = taken.get(line.itemId) ?? 0
      const left = menu.menu.value ? leftOf(item) - before : line.qty
      const available = Math.max(0, Math.min(left, mostPerLine))
      taken.set(line.itemId, before + Math.min(line.qty, available))
      return {
        ...line, name: item?.name ?? line.name, price: item?.price ?? line.price, key: keyOf(line), imageUrl: item?.imageUrl ?? null,
        onMenu: item !== undefined, available, gone: available === 0,
      }
    })
  })
  const orderable = computed(() => shown.value.filter((line) => !line.gone))
  const total = computed(() => orderable.value.reduce((sum, l) => sum + l.price * l.qty, 0))
  /** The number of items that can be ordered; sold-out ones are not counted. */
  const count = computed(() => orderable.value.reduce((sum, l) => sum + l.qty, 0))
  const empty = computed(() => lines.value.length === 0)
  /** Whether a price has changed since a dish was added. */
  const repriced = computed(() => lines.value.some((l) => (menu.item(l.itemId)?.price ?? l.price) !== l.price))
  /** The first line that cannot be ordered as it is. */
  const obstacle = computed(() => shown.value.find((line) => line.qty > line.available))

  function set(next: CartLine[]): void {
    session.keep({ cartDraft: next.filter((l) => l.qty > 0) })
  }

  /** Adds dishes to the cart, up to the limits of an order. */
  function add(added: CartLine): void {
    const at = lines.value.findIndex((l) => keyOf(l) === keyOf(added))
    const next = [...lines.value]
    const old = next[at]
    if (old) next[at] = { ...added, qty: Math.min(old.qty + added.qty, mostPerLine) }
    else if (next.length < mostLines) next.push(added)
    set(next)
  }

  function change(key: string, qty: number): void {
    set(lines.value.map((l) => (keyOf(l) === key ? { ...l, qty: Math.min(qty, mostPerLine) } : l)))
  }

  /** Takes one piece of a dish away: of the line without a note, where there is one. */
  function less(itemId: string): void {
    const mine = lines.value.filter((l) => l.itemId === itemId)
    const line = mine.find((l) => l.notes === '') ?? mine.at(-1)
    if (line) change(keyOf(line), line.qty - 1)
  }

  /** Changes a line's note. Two lines of one dish with the same note become one. */
  function note(key: string, notes: string): void {
    const line = lines.value.find((l) => keyOf(l) === key)
    if (!line || line.notes === notes) return
    const changed = { ...line, notes }
    const twin = lines.value.find((l) => keyOf(l) === keyOf(changed))
    if (twin) changed.qty = Math.min(line.qty + twin.qty, mostPerLine)
    set(lines.value.filter((l) => l !== twin).map((l) => (l === line ? changed : l)))
  }

  /** Reduces every line to what is available. */
  function settleForAvailable(): void {
    const left = new Map(shown.value.map((l) => [l.key, l.available]))
    set(lines.value.map((l) => ({ ...l, qty: Math.min(l.qty, left.get(keyOf(l)) ?? 0) })))
  }

  /** Adds the dishes of an earlier order. */
  function restore(items: readonly OrderLine[]): void {
    for (const { itemId, qty, notes, name, price } of items) add({ itemId, qty, notes, name, price })
  }

  /** Updates prices to the current menu and removes dishes that are not on it. */
  function adopt(): void {
    if (!menu.menu.value) return
    vanished.value = shown.value.filter((l) => !l.onMenu).map((l) => l.name)
    session.keep({
      menuVersion: menu.menu.value.menuVersionId,
      cartDraft: shown.value.filter((l) => l.onMenu).map(({ itemId, qty, notes, name, price }) => ({
        itemId, qty, notes, name, price,
      })),
    })
  }

  /** Empties the cart after an order. */
  function clear(): void {
    session.keep({ cartDraft: [], clientTxnId: newTxnId() })
  }

  return {
    lines, shown, total, count, empty, repriced, obstacle, vanished, add, less, change, note, settleForAvailable, restore, adopt, clear,
  }
})

function leftOf(item: MenuItem | undefined): number {
  if (!item?.isActive || item.isSoldOut) return 0
  return item.remaining ?? Infinity
}
