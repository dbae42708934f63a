import { useQuery } from '@tanstack/vue-query'
import { computed, ref } from 'vue'

import type { components } from '@shared/api/schema'
import { recall, remember } from './kept'
import { api, ask, can } from './session'

export type Branch = components['schemas']['CatalogBranch']

const chosen = ref(recall('branch') ?? '')
const known = ref<Branch[]>([])

/** The branches where the person works. */
export const branches = computed(() => known.value)

/** The one that the console shows; undefined for a moment after logging in, and for people without any. */
export const branch = computed(() => known.value.find((b) => b.id === chosen.value) ?? known.value[0])

/** Its id; empty while there is none. */
export const branchId = computed(() => branch.value?.id ?? '')

export function changeBranch(id: string): void {
  chosen.value = id
  remember('branch', id)
}

export function forgetBranches(): void {
  known.value = []
}

/** Reads the branches, for the frame around all pages. */
export function useBranches() {
  return useQuery({
    queryKey: ['branches'],
    enabled: computed(() => can('GET /api/branches')),
    staleTime: 60_000,
    queryFn: async () => {
      known.value = (await ask(() => api.GET('/api/branches'))).items ?? []
      return known.value
    },
  })
}
