import { useQuery } from '@tanstack/vue-query'
import { computed, ref, watchEffect } from 'vue'

import type { components } from '@shared/api/schema'
import { t } from './i18n'
import { recall, remember } from './kept'
import { api, ask, can, person } from './session'

export type Branch = components['schemas']['CatalogBranch']

const chosen = ref(recall('branch') ?? '')
const known = ref<Branch[]>([])
// For archived branches, only reports, orders and payments can be viewed.
const chosenRetired = ref('')
const knownRetired = ref<Branch[]>([])
const withRetired = ref(false)
const told = ref(false)
const trouble = ref<unknown>()

/** The branches where the person works. */
export const branches = computed(() => known.value)

/** The branches that the page can show; archived ones only on pages about the past. */
export const choices = computed(() => (withRetired.value ? [...known.value, ...knownRetired.value] : known.value))

/** All known branches, for names and currencies in past data. */
export const everyBranch = computed(() => [...known.value, ...knownRetired.value])

/** The title of a branch in a selection. */
export const branchTitle = (b: Branch) => (b.retiredAt ? t('shell.branch_retired', { name: b.name }) : b.name)

/**
 * The one that the console shows; undefined for a moment after logging in, and for people without any. A retired one is
 * shown by the pages that can; the others show the last one in use.
 */
export const branch = computed(() => {
  const find = (id: string) => choices.value.find((b) => b.id === id)
  return (withRetired.value ? find(chosenRetired.value) : undefined) ?? find(chosen.value) ?? choices.value[0]
})

/** Says whether the page that is opened can show retired branches. */
export function allowRetired(can: boolean): void {
  withRetired.value = can
}

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
  chosenRetired.value = knownRetired.value.some((b) => b.id === id) ? id : ''
  if (chosenRetired.value) return // not kept: the next visit begins with a branch in use
  chosen.value = id
  remember('branch', id)
}

export function forgetBranches(): void {
  known.value = []
  knownRetired.value = []
  chosenRetired.value = ''
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
  useQuery({
    queryKey: [...branchesKey, 'retired'],
    enabled: computed(() => can('GET /api/branches') && withRetired.value),
    staleTime: 60_000,
    queryFn: async () => {
      knownRetired.value = (await ask(() => api.GET('/api/branches', { params: { query: { retired: true } } }))).items ?? []
      return knownRetired.value
    },
  })
  watchEffect(() => {
    trouble.value = asked.error.value
  })
  return asked
}
