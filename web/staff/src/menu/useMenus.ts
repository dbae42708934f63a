import { branchId } from '../shell/branch'
import { useAsk } from '../shell/query'
import { api } from '../shell/session'

/** The menus of the branch. */
export function useMenus() {
  return useAsk(
    'menus', () => api.GET('/api/menus', { params: { query: { branchId: Number(branchId.value), size: 100 } } }), [],
    { enabled: () => branchId.value !== '' },
  )
}
