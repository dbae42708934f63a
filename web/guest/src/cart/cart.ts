import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import { newTxnId } from '@shared/txn'

import type { MenuItem, OrderLine } from '../api/dto'
import { useMenu } from '../menu/menu'
import { useSession } from '../table/session'
import { keyOf, maxLines, maxPerLine, plain, type CartLine, type ShownLine } from './line'
import { useTableCart } from './tablecart'

/** The guest's cart: the phone's own, which the session stores, or the table's shared cart if the branch enables it. */
export const useCart = defineStore('cart', () => {
  const session = useSession()
  const menu = useMenu()
  const vanished = ref<string[]>([]) // names of dishes that are not on the current menu

  const table = useTableCart()
  const scope = ref<'all' | 'mine'>('all')

  const lines = computed<CartLine[]>(() => (table.shared.value ? table.lines.value : session.draft?.cartDraft ?? []))
  /** The lines that this phone added. */
  const mine = computed(() => (table.shared.value ? lines.value.filter((l) => l.mine) : lines.value))
  /** Whether there is a choice between all dishes and the guest's own. */
  const divided = computed(() => mine.value.length > 0 && mine.value.length < lines.value.length)
  const chosen = computed(() => (divided.value && scope.value === 'mine' ? mine.value : lines.value))
  const shown = computed<ShownLine[]>(() => {
    const taken = new Map<string, number>()
    const rest = lines.value.filter((l) => !chosen.value.includes(l))
    const states = [...chosen.value, ...rest].map((line) => { // lines that are ordered now take the remaining units first
      const item = menu.item(line.itemId)
      const before = taken.get(line.itemId) ?? 0
      const left = menu.menu.value ? leftOf(item) - before : line.qty
      const available = Math.max(0, Math.min(left, maxPerLine))
      taken.set(line.itemId, before + Math.min(line.qty, available))
      return {
        ...line, name: item?.name ?? line.name, price: item?.price ?? line.price, key: keyOf(line), imageUrl: item?.imageUrl ?? null,
        onMenu: item !== undefined, available, gone: available === 0,
      }
    })
    return rest.length ? lines.value.flatMap((l) => states.filter((s) => s.key === keyOf(l))) : states
  })
  /** The lines that the next order takes. */
  const ordered = computed(() => shown.value.filter((s) => chosen.value.some((l) => keyOf(l) === s.key)))
  const orderable = computed(() => shown.value.filter((line) => !line.gone))
  const total = computed(() => orderable.value.reduce((sum, l) => sum + l.price * l.qty, 0))
  /** The number of items that can be ordered; sold-out ones are not counted. */
  const count = computed(() => orderable.value.reduce((sum, l) => sum + l.qty, 0))
  const empty = computed(() => lines.value.length === 0)
  /** The price of the next order. */
  const due = computed(() => ordered.value.filter((l) => !l.gone).reduce((sum, l) => sum + l.price * l.qty, 0))
  /** Whether a price has changed since a dish was added. */
  const repriced = computed(() => lines.value.some((l) => (menu.item(l.itemId)?.price ?? l.price) !== l.price))
  /** The first line that cannot be ordered as it is. */
  const obstacle = computed(() => ordered.value.find((line) => line.qty > line.available))

  function set(next: CartLine[]): void {
    session.keep({ cartDraft: next.filter((l) => l.qty > 0) })
  }

  /** Adds dishes to the cart, up to the limits of an order. */
  function add(added: CartLine): void {
    if (table.shared.value) {
      const own = table.lines.value.find((l) => l.mine && l.itemId === added.itemId && l.notes === added.notes)
      if (own) table.put({ ...own, qty: Math.min(own.qty + added.qty, maxPerLine) })
      else table.put({ ...plain(added), id: newTxnId(), phone: 0, mine: true })
      return
    }
    const at = lines.value.findIndex((l) => keyOf(l) === keyOf(added))
    const next = [...lines.value]
    const old = next[at]
    if (old) next[at] = { ...added, qty: Math.min(old.qty + added.qty, maxPerLine) }
    else if (next.length < maxLines) next.push(added)
    set(next)
  }

  /** Changes a line of the shared cart. */
  function changeLine(id: string, changed: Partial<CartLine>): void {
    const line = table.lines.value.find((l) => l.id === id)
    if (line) table.put({ ...line, ...changed })
  }

  function change(key: string, qty: number): void {
    if (table.shared.value) {
      changeLine(key, { qty: Math.min(qty, maxPerLine) })
      return
    }
    set(lines.value.map((l) => (keyOf(l) === key ? { ...l, qty: Math.min(qty, maxPerLine) } : l)))
  }

  /** Removes one piece of a dish, preferably from the line without a note. */
  function less(itemId: string): void {
    const those = mine.value.filter((l) => l.itemId === itemId)
    const line = those.find((l) => l.notes === '') ?? those.at(-1)
    if (line) change(keyOf(line), line.qty - 1)
  }

  /** Changes a line's note. Two lines of one dish with the same note become one. */
  function note(key: string, notes: string): void {
    if (table.shared.value) {
      changeLine(key, { notes })
      return
    }
    const line = lines.value.find((l) => keyOf(l) === key)
    if (!line || line.notes === notes) return
    const changed = { ...line, notes }
    const twin = lines.value.find((l) => keyOf(l) === keyOf(changed))
    if (twin) changed.qty = Math.min(line.qty + twin.qty, maxPerLine)
    set(lines.value.filter((l) => l !== twin).map((l) => (l === line ? changed : l)))
  }

  /** Adds the dishes of an earlier order. */
  function restore(items: readonly OrderLine[]): void {
    for (const { itemId, qty, notes, name, price } of items) add({ itemId, qty, notes, name, price })
  }

  /** Updates prices to the current menu and removes dishes that are not on it. */
  function adopt(): void {
    if (!menu.menu.value) return
    if (table.shared.value) { // shared lines store no prices, and another phone may remove them
      session.keep({ menuVersion: menu.menu.value.menuVersionId })
      return
    }
    vanished.value = shown.value.filter((l) => !l.onMenu).map((l) => l.name)
    session.keep({
      menuVersion: menu.menu.value.menuVersionId,
      cartDraft: shown.value.filter((l) => l.onMenu).map(plain),
    })
  }

  /** Empties the cart after an order. The server itself removes ordered lines from a shared cart. */
  function clear(): void {
    session.keep({ clientTxnId: newTxnId(), ...(table.shared.value ? {} : { cartDraft: [] }) })
    void table.load()
  }

  return {
    lines, mine, shown, ordered, total, due, count, empty, repriced, obstacle, vanished, shared: table.shared, divided, scope,
    trouble: table.trouble, reload: table.load, settle: table.flush,
    add, less, change, note, restore, adopt, clear,
  }
})

function leftOf(item: MenuItem | undefined): number {
  if (!item?.isActive || item.isSoldOut) return 0
  return item.remaining ?? Infinity
}
