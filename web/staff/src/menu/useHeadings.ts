import { computed } from 'vue'

import { everyPage, useAsk } from '../shell/query'
import { api } from '../shell/session'
import { words } from './words'

/** The restaurant's categories, in the order of menus. */
export function useHeadings() {
  const asked = useAsk('categories', () => everyPage((page) => api.GET('/api/categories', { params: { query: { page, size: 100 } } })))
  const headings = computed(() => asked.data.value?.items ?? [])
  return {
    asked,
    headings,
    nameOf: (id: string) => words(headings.value.find((h) => h.id === id)?.names ?? {}),
  }
}
