import { computed } from 'vue'

import { lateTickets } from '../board/late'
import { branchId } from '../shell/branch'
import { useAsk } from '../shell/query'
import { api, can } from '../shell/session'

/** The labels of the tables with a late ticket, as on the order board; none without the permission to see it. */
export function useLateTables() {
  const board = useAsk(
    'board', () => api.GET('/api/boards/{branchId}', { params: { path: { branchId: branchId.value } } }), ['today'],
    { enabled: () => can('GET /api/boards/{branchId}') && branchId.value !== '', every: 15_000 },
  )
  return computed(() => {
    const b = board.data.value
    return new Set(b ? lateTickets(b.tickets, b.thresholds, Date.parse(b.now)).map((ticket) => ticket.tableLabel) : [])
  })
}
