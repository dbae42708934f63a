import { useQuery } from '@tanstack/vue-query'
import { computed, ref, watchEffect } from 'vue'

import type { components } from '@shared/api/schema'
import { recall, remember } from './kept'
import { api, ask, can, person } from './session'

export type Branch = components['schemas']['CatalogBranch']

const chosen = ref(recall('branch') ?? '')
const known = ref<Branch[]>([])
const told = ref(false)
const trouble = ref<unknown>()

/** The branches where the person works. */
export const branches = computed(() => known.value)

/** The one that the console shows; undefined for a moment after logging in, and for people without any. */
export const branch = computed(() => known.value.find((b) => b.id === chosen.value) ?? known.value[0])

/** Its id; empty while there is none. */
export const branchId = computed(() => branch.value?.id ?? '')

/**
 * Whether there is a branch to show: asked for, not to be had for now, none, or there. People whose role may not ask have
 * none.
 */
export const branchState = computed(() => {
  if (branch.value) return 'there'
  if (told.value || !can('GET /api/branches')) return 'none'
  return trouble.value ? 'failed' : 'asked'
})

/** Why the branches could not be read. */
export const branchTrouble = computed(() => trouble.value)

/** Whether the person works in every branch there is: without one, there is none at all. */
export const everywhere = computed(() => ['OWNER', 'ADMIN'].includes(person.value?.account.role ?? ''))

export function changeBranch(id: string): void {
  chosen.value = id
  remember('branch', id)
}

export function forgetBranches(): void {
  known.value = []
  told.value = false
}

export const branchesKey = ['branches']

/** Reads the branches, for the frame around all pages. */
export function useBranches() {
  const asked = useQuery({
    queryKey: branchesKey,
    enabled: computed(() => can('GET /api/branches')),
    staleTime: 60_000,
    queryFn: async () => {
      known.value = (await ask(() => api.GET('/api/branches'))).items ?? []
      told.value = true
      return known.value
    },
  })
  watchEffect(() => {
    trouble.value = asked.error.value
  })
  return asked
}
