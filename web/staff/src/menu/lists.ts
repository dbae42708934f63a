import { computed } from 'vue'

import { branchId, branches } from '../shell/branch'
import { listed } from '../shell/i18n'
import { everyPage, useAsk } from '../shell/query'
import { api, can } from '../shell/session'
import { localized } from './localized'
import type { Category } from './menuEditor'

/** The restaurant's categories, in the order of menus. */
export function useCategories() {
  const asked = useAsk('categories', () => everyPage((page) => api.GET('/api/categories', { params: { query: { page, size: 100 } } })))
  const categories = computed(() => asked.data.value?.items ?? [])
  const titles = computed(() => categoryTitles(categories.value, branches.value))
  return { asked, categories, titleOf: (id: string) => titles.value.get(id) ?? '' }
}

interface Place { id: string; name: string }

/** The names of a category's branches: those that have its dishes on a menu. */
export const branchesOf = (c: Category, all: readonly Place[]) => all.filter((b) => c.branchIds?.includes(b.id)).map((b) => b.name)

/** The names of categories by id. Branches may have categories of the same name; their branches follow such a name. */
export function categoryTitles(categories: readonly Category[], all: readonly Place[]): Map<string, string> {
  const names = categories.map((c) => localized(c.names))
  return new Map(categories.map((c, n) => {
    const name = names[n] ?? ''
    const shared = names.indexOf(name) !== names.lastIndexOf(name)
    return [c.id, [name, shared ? listed(branchesOf(c, all)) : ''].filter(Boolean).join(' · ')]
  }))
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
