import { computed } from 'vue'

import { branchId } from '../shell/branch'
import { useAsk } from '../shell/query'
import { api, can } from '../shell/session'
import { lateTables } from './floor'

/** The ids of the tables with a late ticket, as on the order board; none without the permission to see it. */
export function useLateTables() {
  const board = useAsk(
    'board', () => api.GET('/api/boards/{branchId}', { params: { path: { branchId: branchId.value } } }), ['today'],
    { enabled: () => can('GET /api/boards/{branchId}') && branchId.value !== '', every: 15_000 },
  )
  return computed(() => (board.data.value ? lateTables(board.data.value) : new Set<string>()))
}
