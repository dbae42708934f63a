import { computed, ref, shallowRef, watch } from 'vue'

import { isFault } from '@shared/api/fault'
import type { Key } from '@shared/i18n'
import { unitPrice, wired } from '@shared/options'
import { newTxnId } from '@shared/txn'

import type { TableCart } from '../api/dto'
import { putTableLine, removeTableLine, tableCart } from '../api/public'
import { useMenu } from '../menu/menu'
import { useSession } from '../table/session'
import { plain, type TableLine } from './line'

const pause = 2000 // ms before a failed request is retried

/**
 * The table's shared cart. A change is shown at once and stays in the visit's draft until the server has accepted it, so
 * that a reloaded or offline phone can still send it. The line's id makes repeated requests idempotent.
 */
export function useTableCart() {
  const session = useSession()
  const menu = useMenu()
  const stored = shallowRef<TableLine[]>([]) // last known state of the server
  const unsent = shallowRef(new Map<string, TableLine>()) // changes by line; quantity 0 removes it
  const trouble = ref<Key>()
  const shared = computed(() => Boolean(session.branch?.sharedCart))
  const visit = computed(() => session.draft?.visitId ?? '')
  let version = -1
  let sending: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined // until the next retry
  let rereading: ReturnType<typeof setTimeout> | undefined

  const lines = computed<TableLine[]>(() => {
    const known = new Set(stored.value.map((l) => l.id))
    const all = stored.value.map((l) => {
      const { qty, notes, options } = unsent.value.get(l.id) ?? l
      return { ...l, qty, notes, options: options ?? null }
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
    session.keep({ cartDraft: [...next.values()].map((l) => ({ ...plain(l), id: l.id })), own: own() })
  }

  /** The lines that this phone added, as the draft keeps them for the guest's next table. */
  const own = () => lines.value.filter((l) => l.mine).map(plain)

  /** Sends the unsent changes one after the other, and reports whether the server has accepted all of them. */
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
        const options = wired(line.options)
        take(await (qty > 0 ? putTableLine(of, line.id, { itemId, qty, notes, ...(options.length && { options }) }) : removeTableLine(of, line.id)), of)
      } catch (e) {
        if (!isFault(e)) throw e
        if (e.passing) {
          timer = setTimeout(() => void flush(), Math.max(pause, e.retryAfter * 1000))
          return
        }
        if (!(await refused(e.code))) return
      }
      // A change made in the meantime stays unsent.
      if (unsent.value.get(line.id) === line) change((map) => map.delete(line.id))
    }
  }

  /** Handles a refused change, and reports whether to drop it. */
  async function refused(code: string): Promise<boolean> {
    switch (code) {
      case 'cart_not_shared':
        session.share(false)
        return false
      case 'visit_closed':
      case 'customer_token_invalid': // the page shows it
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
      case 'option_unknown':
      case 'options_invalid':
        trouble.value = 'review.choose'
        await menu.load()
        break
      default:
        trouble.value = 'cart.changedMeanwhile'
    }
    await load()
    return true
  }

  /** Reads the cart. An answer older than the known version is dropped. */
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
    stored.value = got.lines.map((l) => {
      const item = menu.item(l.itemId)
      return { ...l, price: item ? unitPrice(item, l.options) : 0 }
    })
    session.keep({ own: own() })
  }

  /** Switches between the shared cart and the phone's own: the branch may change the option while guests are at the table. */
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
