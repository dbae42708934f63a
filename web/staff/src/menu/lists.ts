import { computed } from 'vue'

import { branchId } from '../shell/branch'
import { everyPage, useAsk } from '../shell/query'
import { api, can } from '../shell/session'
import { localized } from './localized'

/** The restaurant's categories, in the order of menus. */
export function useCategories() {
  const asked = useAsk('categories', () => everyPage((page) => api.GET('/api/categories', { params: { query: { page, size: 100 } } })))
  const categories = computed(() => asked.data.value?.items ?? [])
  return {
    asked,
    categories,
    nameOf: (id: string) => localized(categories.value.find((h) => h.id === id)?.names ?? {}),
  }
}

/** The menus of the branch, or of another one. */
export function useMenus(of: () => string = () => branchId.value, allowed: () => boolean = () => true) {
  return useAsk(
    'menus', () => api.GET('/api/menus', { params: { query: { branchId: Number(of()), size: 100 } } }), () => [of()],
    { enabled: () => of() !== '' && allowed() },
  )
}

/** The menu that an import, a download or a copy takes if none is chosen: the oldest one that is published, else the oldest one. */
export function firstMenu<M extends { id: string; publishedVersionId: string | null }>(menus: readonly M[]): M | undefined {
  const byAge = [...menus].sort((a, b) => Number(a.id) - Number(b.id))
  return byAge.find((m) => m.publishedVersionId) ?? byAge[0]
}

/** The menus that a copy of their branch gets: those that are published, else the oldest one as a draft. */
export function copiedMenus<M extends { id: string; publishedVersionId: string | null }>(menus: readonly M[]): M[] {
  const published = menus.filter((m) => m.publishedVersionId)
  return published.length > 0 ? published : [firstMenu(menus)].filter((m) => m !== undefined)
}

/** The restaurant's option groups, with the options that are not archived. */
export function useOptionGroups() {
  const asked = useAsk(
    'option-groups', () => everyPage((page) => api.GET('/api/option-groups', { params: { query: { page, size: 100 } } })), [],
    { enabled: () => can('GET /api/option-groups') },
  )
  const groups = computed(() =>
    (asked.data.value?.items ?? []).map((g) => ({ ...g, options: (g.options ?? []).filter((o) => !o.retired).sort((a, b) => a.sort - b.sort) })))
  return { asked, groups }
}
