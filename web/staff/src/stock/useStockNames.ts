import { computed } from 'vue'

import { branchId } from '../shell/branch'
import { count } from '../shell/i18n'
import { everyPage, useAsk } from '../shell/query'
import { api, can } from '../shell/session'
import { quantity, type RecipeLine } from './level'

/**
 * The branch's stock items, read while they are wanted, and their names. amountOf returns an amount such as "200 g Coffee" or
 * "3× Beer". Users who may not list the items see the item number.
 */
export function useStockNames(wanted: () => boolean) {
  const asked = useAsk(
    'stock', () => everyPage((page) => api.GET('/api/stock/items', { params: { query: { branchId: branchId.value, page, size: 100 } } })),
    ['all'], { enabled: () => wanted() && branchId.value !== '' && can('GET /api/stock/items') },
  )
  const items = computed(() => asked.data.value?.items ?? [])
  const find = (sku: string) => items.value.find((i) => i.itemId === sku)
  const nameOf = (sku: string) => find(sku)?.name || sku
  const amountOf = (line: RecipeLine) => {
    const unit = find(line.itemId)?.unit
    return `${unit ? quantity(line.quantity, unit) : `${count(line.quantity)}×`} ${nameOf(line.itemId)}`
  }
  return { items, nameOf, amountOf }
}
