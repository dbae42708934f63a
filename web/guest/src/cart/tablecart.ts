import { computed, ref, shallowRef, watch } from 'vue'

import { isFault } from '@shared/api/fault'
import type { Key } from '@shared/i18n'
import { newTxnId } from '@shared/txn'

import type { TableCart } from '../api/dto'
import { putTableLine, removeTableLine, tableCart } from '../api/public'
import { useMenu } from '../menu/menu'
import { useSession } from '../table/session'
import { plain, type TableLine } from './line'

const pause = 2000 // milliseconds before a request that did not arrive is sent again

/**
 * The cart that the phones of the table share. A change is shown at once and kept in the draft of the visit until the
 * server has it, so that a phone that was reloaded or offline sends it then. A line's id makes a repetition harmless.
 */
export function useTableCart() {
  const session = useSession()
  const menu = useMenu()
  const stored = shallowRef<TableLine[]>([]) // as the server had it last
  const unsent = shallowRef(new Map<string, TableLine>()) // changes by line; quantity 0 removes it
  const trouble = ref<Key>()
  const shared = computed(() => Boolean(session.branch?.sharedCart))
  const visit = computed(() => session.draft?.visitId ?? '')
  let version = -1
  let sending: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined // until a change is sent again
  let rereading: ReturnType<typeof setTimeout> | undefined

  const lines = computed<TableLine[]>(() => {
    const known = new Set(stored.value.map((l) => l.id))
    const all = stored.value.map((l) => {
      const { qty, notes } = unsent.value.get(l.id) ?? l
      return { ...l, qty, notes }
    })
    return [...all, ...[...unsent.value.values()].filter((l) => !known.has(l.id))].filter((l) => l.qty > 0)
  })

  /** Adds or changes a line; with quantity 0 it removes it. */
  function put(line: TableLine): void {
    trouble.value = undefined
    change((map) => map.set(line.id, line))
    void flush()
  }

  function change(edit: (map: Map<string, TableLine>) => unknown): void {
    const next = new Map(unsent.value)
    edit(next)
    unsent.value = next
    session.keep({ cartDraft: [...next.values()].filter((l) => l.qty > 0).map((l) => ({ ...plain(l), id: l.id })), own: own() })
  }

  /** The lines that this phone added, as the draft keeps them for the guest's next table. */
  const own = () => lines.value.filter((l) => l.mine).map(plain)

  /** Sends what is unsent, one change after the other, and returns whether everything has arrived. */
  async function flush(): Promise<boolean> {
    sending ??= send().finally(() => { sending = undefined })
    await sending
    return unsent.value.size === 0
  }

  async function send(): Promise<void> {
    clearTimeout(timer)
    for (;;) {
      const [line] = unsent.value.values()
      const of = visit.value
      if (!line || !shared.value) return
      try {
        const { itemId, qty, notes } = line
        take(await (qty > 0 ? putTableLine(of, line.id, { itemId, qty, notes }) : removeTableLine(of, line.id)), of)
      } catch (e) {
        if (!isFault(e)) throw e
        if (e.passing) {
          timer = setTimeout(() => void flush(), Math.max(pause, e.retryAfter * 1000))
          return
        }
        if (!(await refused(e.code))) return
      }
      // A change that was made meanwhile is still to be sent.
      if (unsent.value.get(line.id) === line) change((map) => map.delete(line.id))
    }
  }

  /** Handles a refused change, and returns whether it is to be forgotten. */
  async function refused(code: string): Promise<boolean> {
    switch (code) {
      case 'cart_not_shared':
        session.share(false)
        return false
      case 'visit_closed':
      case 'customer_token_invalid': // the page says so
        return false
      case 'cart_full':
        trouble.value = 'cart.full'
        break
      case 'cart_lines_exhausted':
        trouble.value = 'cart.askStaff'
        break
      case 'dish_not_found':
        trouble.value = 'cart.unlisted'
        break
      default:
        trouble.value = 'cart.changedMeanwhile'
    }
    await load()
    return true
  }

  /** Reads the cart. An answer that is older than what is known is dropped. */
  async function load(): Promise<void> {
    const of = visit.value
    clearTimeout(rereading)
    if (!of || !shared.value) return
    try {
      take(await tableCart(of), of)
    } catch (e) {
      if (!isFault(e)) throw e
      if (e.code === 'cart_not_shared') session.share(false)
      else if (e.passing) rereading = setTimeout(() => void load(), pause)
    }
  }

  function take(got: TableCart, of: string): void {
    if (of !== visit.value || got.version < version) return
    version = got.version
    stored.value = got.lines.map((l) => ({ ...l, price: menu.item(l.itemId)?.price ?? 0 }))
    session.keep({ own: own() })
  }

  /** Follows what the server says: the cart may become shared, or everybody's own again, while guests sit there. */
  watch(menu.cartVersion, (now) => {
    if (now === undefined) return
    session.share(now !== null)
    if (now !== null && now > version) void load()
  }, { immediate: true })

  watch([visit, shared], ([, on], [before, was]) => {
    if (was && !on && before === visit.value) {
      session.keep({ cartDraft: own(), own: undefined })
    }
    version = -1
    stored.value = []
    unsent.value = new Map()
    if (!on) return
    const kept = session.draft?.cartDraft ?? []
    if (kept.length) {
      const lines = kept.map((l): TableLine => ({ ...l, id: l.id ?? newTxnId(), phone: 0, mine: true }))
      change((map) => { for (const l of lines) map.set(l.id, l) })
    }
    void load()
    void flush()
  }, { immediate: true })

  return { shared, lines, trouble, put, load, flush }
}
