import { computed } from 'vue'

import { branchId } from '../shell/branch'
import { useAsk } from '../shell/query'
import { api, can } from '../shell/session'

/** Who is here now: guests of the branch, and all members. Undefined if it cannot be read; pages do without it. */
export function useOnline() {
  const asked = useAsk('online', () => api.GET('/api/reports/online'), [], { every: 30_000, enabled: () => can('GET /api/reports/online') })
  return computed(() => asked.data.value && {
    guests: asked.data.value.branches.find((b) => b.branchId === branchId.value)?.guests ?? 0,
    members: asked.data.value.members,
  })
}
