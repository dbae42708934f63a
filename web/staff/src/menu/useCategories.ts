import { computed } from 'vue'

import { everyPage, useAsk } from '../shell/query'
import { api } from '../shell/session'
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
