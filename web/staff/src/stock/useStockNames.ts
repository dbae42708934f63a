import { computed } from 'vue'

import { branchId } from '../shell/branch'
import { everyPage, useAsk } from '../shell/query'
import { api, can } from '../shell/session'

/** The branch's stock items, read while they are wanted, and their names. Users who may not list them see the item number. */
export function useStockNames(wanted: () => boolean) {
  const asked = useAsk(
    'stock', () => everyPage((page) => api.GET('/api/stock/items', { params: { query: { branchId: branchId.value, page, size: 100 } } })),
    ['all'], { enabled: () => wanted() && branchId.value !== '' && can('GET /api/stock/items') },
  )
  const items = computed(() => asked.data.value?.items ?? [])
  return { items, nameOf: (sku: string) => items.value.find((i) => i.itemId === sku)?.name || sku }
}
