import { useQuery } from '@tanstack/vue-query'
import { computed, ref, watchEffect } from 'vue'

import type { components } from '@shared/api/schema'
import { t } from './i18n'
import { recall, remember } from './storage'
import { api, ask, can, person } from './session'

export type Branch = components['schemas']['CatalogBranch']

const chosen = ref(recall('branch') ?? '')
const known = ref<Branch[]>([])
// The chosen retired branch. Only its reports, orders and payments can be viewed.
const chosenRetired = ref('')
const knownRetired = ref<Branch[]>([])
const withRetired = ref(false)
const loaded = ref(false)
const trouble = ref<unknown>()

/** The branches of the user. */
export const branches = computed(() => known.value)

/** The branches that the page can show; retired ones only on pages about past data. */
export const choices = computed(() => (withRetired.value ? [...known.value, ...knownRetired.value] : known.value))

/** All known branches, for names and currencies in past data. */
export const everyBranch = computed(() => [...known.value, ...knownRetired.value])

/** The branch of past data, such as an order; undefined while the branches load. */
export const branchOf = (id: string | undefined) => everyBranch.value.find((b) => b.id === id)

/** The title of a branch in a selection. */
export const branchTitle = (b: Branch) => (b.retiredAt ? t('shell.branch_retired', { name: b.name }) : b.name)

/**
 * The branch that the console shows; undefined while the branches load, and for users without a branch. Pages that cannot
 * show the chosen retired branch show the last active one.
 */
export const branch = computed(() => {
  const find = (id: string) => choices.value.find((b) => b.id === id)
  return (withRetired.value ? find(chosenRetired.value) : undefined) ?? find(chosen.value) ?? choices.value[0]
})

/** Sets whether the current page can show retired branches. */
export function allowRetired(can: boolean): void {
  withRetired.value = can
}

/** The id of the shown branch; empty without one. */
export const branchId = computed(() => branch.value?.id ?? '')

/**
 * The state of the branches: being loaded ('asked'), failed to load, none, or loaded ('there'). Users who may not list
 * branches have none.
 */
export const branchState = computed(() => {
  if (branch.value) return 'there'
  if (loaded.value || !can('GET /api/branches')) return 'none'
  return trouble.value ? 'failed' : 'asked'
})

/** The error of the last load of the branches. */
export const branchTrouble = computed(() => trouble.value)

/** Whether the user's role covers all branches. If such a user has no branch, none exists. */
export const everywhere = computed(() => ['OWNER', 'ADMIN'].includes(person.value?.account.role ?? ''))

export function changeBranch(id: string): void {
  chosenRetired.value = knownRetired.value.some((b) => b.id === id) ? id : ''
  if (chosenRetired.value) return // not stored: the next start shows an active branch
  chosen.value = id
  remember('branch', id)
}

export function forgetBranches(): void {
  known.value = []
  knownRetired.value = []
  chosenRetired.value = ''
  loaded.value = false
}

export const branchesKey = ['branches']

/** Loads the branches for the frame. */
export function useBranches() {
  const asked = useQuery({
    queryKey: branchesKey,
    enabled: computed(() => can('GET /api/branches')),
    staleTime: 60_000,
    refetchInterval: 60_000, // the business date changes on a page that stays open overnight
    queryFn: async () => {
      known.value = (await ask(() => api.GET('/api/branches'))).items ?? []
      loaded.value = true
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
