import { computed, toValue, type MaybeRefOrGetter } from 'vue'

import { useAsk } from '../shell/query'
import { api, can } from '../shell/session'
import { useMenus } from './lists'
import type { Menu } from './menuEditor'

/** The menu that receives a branch's changes: the live one, else the oldest, as on the server. */
function mainMenu(menus: readonly Menu[]): Menu | undefined {
  return [...menus].sort((a, b) =>
    Number(b.publishedVersionId !== null) - Number(a.publishedVersionId !== null) || Number(a.id) - Number(b.id))[0]
}

/** The line of a dish on the branch's menu: of the newest draft, else of the live version. */
export function useDishLine(dish: MaybeRefOrGetter<string | undefined>) {
  const may = () => can('GET /api/menus', 'GET /api/menus/{id}/versions', 'GET /api/menu-versions/{id}')
  const menus = useMenus()
  const menu = computed(() => mainMenu(menus.data.value?.items ?? []))
  const draft = useAsk(
    'versions', () => api.GET('/api/menus/{id}/versions', { params: { path: { id: Number(menu.value?.id) }, query: { size: 100 } } }),
    () => ['all', menu.value?.id], { enabled: () => may() && toValue(dish) !== undefined && menu.value !== undefined },
  )
  const version = computed(() => {
    const drafts = (draft.data.value?.items ?? []).filter((v) => v.status === 'DRAFT').map((v) => Number(v.id))
    return draft.data.value && (drafts.length > 0 ? Math.max(...drafts) : Number(menu.value?.publishedVersionId ?? 0))
  })
  const asked = useAsk(
    'version', () => api.GET('/api/menu-versions/{id}', { params: { path: { id: version.value ?? 0 } } }), () => [version.value],
    { enabled: () => Boolean(version.value) },
  )
  return {
    /** Whether the branch has changes that are not published yet. */
    pending: computed(() => (menu.value?.drafts ?? 0) > 0),
    line: computed(() => asked.data.value?.items.find((l) => l.dishId === toValue(dish))),
  }
}
