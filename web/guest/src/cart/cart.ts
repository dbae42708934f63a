import { defineStore } from 'pinia'
import { computed, ref } from 'vue'

import type { RefusedOption } from '@shared/api/fault'
import { canonical, choiceProblem, contains, renamed, unitPrice } from '@shared/options'
import { newTxnId } from '@shared/txn'

import type { MenuItem, OrderLine } from '../api/dto'
import { useMenu } from '../menu/menu'
import { isUnavailable } from '../menu/search'
import { addedDish } from '../menu/views'
import { useSession } from '../table/session'
import { isBlocked, keyOf, maxLines, maxPerLine, plain, wishOf, type CartLine, type ShownLine } from './line'
import { useTableCart } from './tablecart'

/** The guest's cart: the phone's own, which the session stores, or the table's shared cart if the branch enables it. */
export const useCart = defineStore('cart', () => {
  const session = useSession()
  const menu = useMenu()
  const vanished = ref<string[]>([]) // names of dishes that are not on the current menu

  const table = useTableCart()
  const scope = ref<'all' | 'mine'>('all')
  const refused = ref<string[]>([]) // wishes whose options the server has refused

  const lines = computed<CartLine[]>(() => (table.shared.value ? table.lines.value : session.draft?.cartDraft.filter((l) => l.qty > 0) ?? []))
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
        ...line, ...current(line, item), key: keyOf(line), imageUrl: item?.imageUrl ?? null, onMenu: item !== undefined, available,
        gone: available === 0, optional: Boolean(item?.groups?.length), problem: item && problemOf(line, item),
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
  const repriced = computed(() => lines.value.some((l) => current(l, menu.item(l.itemId)).price !== l.price))
  /** Whether the dishes cost less than when they were added. */
  const cheaper = computed(() => lines.value.reduce((sum, l) => sum + (current(l, menu.item(l.itemId)).price - l.price) * l.qty, 0) < 0)
  /** The first line that cannot be ordered as it is. */
  const obstacle = computed(() => ordered.value.find(isBlocked))

  function problemOf(line: CartLine, item: MenuItem): ShownLine['problem'] {
    const problem = choiceProblem(item, line.options)
    return problem ?? (refused.value.includes(wishOf(line)) ? { code: 'changed', names: [item.name] } : undefined)
  }

  function set(next: CartLine[]): void {
    session.keep({ cartDraft: next.filter((l) => l.qty > 0) })
  }

  /** Adds dishes to the cart, up to the limits of an order. */
  function add(given: CartLine): void {
    const added = sorted(given)
    addedDish(menu.item(given.itemId)?.dishId)
    if (table.shared.value) {
      const own = table.lines.value.find((l) => l.mine && wishOf(l) === wishOf(added) && l.notes === added.notes)
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

  /** Changes a line of the shared cart, and reports whether it is there. */
  function changeLine(id: string, changed: Partial<CartLine>): boolean {
    const line = table.lines.value.find((l) => l.id === id)
    if (line) table.put({ ...line, ...changed })
    return line !== undefined
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
    const line = those.findLast((l) => l.notes === '') ?? those.at(-1)
    if (line) change(keyOf(line), line.qty - 1)
  }

  /** Changes a line's note. */
  function note(key: string, notes: string): void {
    const line = lines.value.find((l) => keyOf(l) === key)
    if (line) replace(key, { ...line, notes })
  }

  /**
   * Changes a line's options, note and quantity. Two lines of one dish that become equal become one. It returns false if the
   * line is no longer in the cart, from which another guest may remove it.
   */
  function replace(key: string, given: CartLine): boolean {
    const changed = sorted(given)
    refused.value = refused.value.filter((wish) => wish !== wishOf(changed))
    if (table.shared.value) {
      const { qty, notes, options } = changed
      return changeLine(key, { qty, notes, options: options ?? [] })
    }
    const line = lines.value.find((l) => keyOf(l) === key)
    if (!line) return false
    const twin = lines.value.find((l) => l !== line && keyOf(l) === keyOf(changed))
    if (twin) changed.qty = Math.min(changed.qty + twin.qty, maxPerLine)
    set(lines.value.filter((l) => l !== twin).map((l) => (l === line ? changed : l)))
    return true
  }

  /**
   * Marks the lines whose options the server has refused, until they are chosen again. It is not needed for lines whose
   * problem the current menu shows.
   */
  function refuse(options: readonly RefusedOption[]): void {
    if (ordered.value.some((l) => l.problem)) return
    const hit = (l: CartLine) => options.some((o) => o.itemId === l.itemId && (!o.optionId || contains(l.options, o.optionId)))
    refused.value = lines.value.filter(hit).map(wishOf)
  }

  /** A line with its options in canonical order. */
  function sorted(line: CartLine): CartLine {
    const options = canonical(menu.item(line.itemId)?.groups, line.options)
    return plain({ ...line, options })
  }

  /** Adds the dishes of an earlier order. */
  function restore(items: readonly OrderLine[]): void {
    for (const { itemId, qty, notes, name, price, options } of items) add({ itemId, qty, notes, name, price, options: options ?? null })
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
    lines, mine, shown, ordered, total, due, count, empty, repriced, cheaper, obstacle, vanished, shared: table.shared, divided, scope,
    trouble: table.trouble, reload: table.load, settle: table.flush,
    add, less, change, note, replace, refuse, restore, adopt, clear,
  }
})

/** Name, price and options of a line on the current menu. */
function current(line: CartLine, item: MenuItem | undefined): Pick<CartLine, 'name' | 'price' | 'options'> {
  if (!item) return line
  return { name: item.name, price: unitPrice(item, line.options), options: renamed(item.groups, line.options) }
}

function leftOf(item: MenuItem | undefined): number {
  if (!item || isUnavailable(item)) return 0
  return item.remaining ?? Infinity
}
