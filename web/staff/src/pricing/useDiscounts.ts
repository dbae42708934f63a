import { computed } from 'vue'

import { useAsk } from '../shell/query'
import { api } from '../shell/session'

/** The discounts that staff of the order's branch may set, read once they are needed. The console may show another branch. */
export function useDiscounts(order: () => { branchId: string }, needed: () => boolean) {
  const id = computed(() => order().branchId)
  const asked = useAsk('pricing', () => api.GET('/api/branches/{id}/pricing', { params: { path: { id: Number(id.value) } } }), () => [id.value], {
    enabled: needed,
  })
  return { asked, kinds: computed(() => asked.data.value?.discounts ?? []) }
}
