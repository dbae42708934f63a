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

/**
 * The line of a dish on the branch's menu: of the newest draft, else of the live version. Without a dish, or a menu, there is
 * none.
 */
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
  const steps = [menus, draft, asked] as const // each needs the one before it
  const known = computed(() => {
    if (toValue(dish) === undefined) return true
    if (!menus.data.value) return false
    if (!menu.value) return true
    return draft.data.value !== undefined && (version.value === 0 || asked.data.value !== undefined)
  })
  return {
    /** Whether the user may read the line. */
    readable: computed(may),
    /** Whether the line has been read, or that there is none. */
    known,
    /** Why the line could not be read. */
    trouble: computed(() => (known.value ? undefined : steps.map((s) => s.error.value).find((e) => e))),
    /** Reads the line again after a failure. */
    again() {
      for (const s of steps) if (s.error.value) void s.refetch()
    },
    /** Whether the branch has changes that are not published yet. */
    pending: computed(() => (menu.value?.drafts ?? 0) > 0),
    line: computed(() => asked.data.value?.items.find((l) => l.dishId === toValue(dish))),
  }
}
