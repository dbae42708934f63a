import { computed, shallowRef } from 'vue'

import type { Menu, MenuItem } from '../api/dto'
import { popularDishes } from '../api/public'
import { isUnavailable } from './search'

const fresh = 60_000 // ms between two requests of a branch
const ids = shallowRef<string[]>([])
const known = computed(() => new Set(ids.value))
let at = '' // branch
let loadedAt = -Infinity

/** Fetches a branch's popular dishes, at most once a minute. Without an answer the last ones stay. */
export async function loadPopular(branchId: string): Promise<void> {
  if (branchId === at && performance.now() - loadedAt < fresh) return
  if (branchId !== at) ids.value = []
  at = branchId
  loadedAt = performance.now()
  try {
    const { dishIds } = await popularDishes(branchId)
    if (branchId === at) ids.value = dishIds ?? []
  } catch {
    // The menu is complete without them.
  }
}

/** The dishes of a menu with these ids, in their order, that can be ordered now. */
export function dishesOf(menu: Menu | undefined, dishIds: readonly string[]): MenuItem[] {
  const items = new Map(menu?.categories.flatMap((c) => c.items).map((i) => [i.dishId, i]))
  return dishIds.map((id) => items.get(id)).filter((i) => i !== undefined && !isUnavailable(i)) as MenuItem[]
}

/** The popular dishes: their ids, best first, and whether a dish is one of them. */
export function usePopular() {
  return { ids, isPopular: (item: MenuItem) => known.value.has(item.dishId) }
}
