import { ref, shallowRef } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'

import { orders } from './api'
import type { ListedOrder } from './dto'

const size = 10

/** The member's orders, newest first, which are loaded page by page. A late answer does not replace a newer one. */
export function useOrderList() {
  const list = shallowRef<ListedOrder[]>()
  const total = ref(0)
  const fault = shallowRef<Fault>()
  const busy = ref(false)
  let generation = 0
  let pages = 0 // those of the list; an order placed meanwhile leaves one order twice, so that its length is no measure

  /** Fetches the next page. Newer orders may have shifted it, so orders that are already shown are skipped. */
  async function more(): Promise<void> {
    const mine = ++generation
    const had = list.value ?? []
    busy.value = true
    try {
      const got = await orders(pages + 1, size)
      if (mine !== generation) return
      pages++
      const known = new Set(had.map((o) => o.id))
      list.value = [...had, ...got.items.filter((o) => !known.has(o.id))]
      total.value = got.total
      fault.value = undefined
    } catch (e) {
      if (!isFault(e)) throw e
      if (mine === generation) fault.value = e
    } finally {
      if (mine === generation) busy.value = false
    }
  }

  /** Loads the list again from its first page. */
  function restart(): Promise<void> {
    list.value = undefined
    pages = 0
    return more()
  }

  return { list, total, fault, busy, more, restart }
}
