import { computed } from 'vue'

import { everyPage, useAsk } from '../shell/query'
import { api, can } from '../shell/session'

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
