import { computed, ref, shallowRef, watch, type Ref } from 'vue'

import { useAsk } from '../shell/query'
import { api, can } from '../shell/session'
import { actorOf } from './audit'
import { nameOf, type Entry } from './people'

/** The number of accounts that a search offers. */
const size = 20

interface Choice { value: string; title: string }

/** The choices of the log's actor. Accounts are searched on the server while the user types: a restaurant may have thousands of members. */
export function useActors(actor: Ref<string | null>, entries: () => readonly Entry[]) {
  const typed = ref('')
  const chosen = shallowRef<Choice>()
  // The field shows the chosen actor; that is not a search.
  const wanted = computed(() => (typed.value === chosen.value?.title ? '' : typed.value.trim()))
  const asked = useAsk(
    'users', () => api.GET('/api/users', { params: { query: { page: 1, size, q: wanted.value } } }), () => ['actors', wanted.value],
    { enabled: () => can('GET /api/users'), keep: true },
  )
  const choices = computed(() => {
    const rest = ['system', 'service'].map((a) => ({ value: a, title: actorOf({ actor: a, actorName: '' }) }))
    const found: Choice[] = [
      ...(asked.data.value?.items ?? []).map((u) => ({ value: `user:${u.id}`, title: nameOf(u) })),
      ...rest.filter((r) => r.title.toLowerCase().includes(wanted.value.toLowerCase())),
    ]
    const is = chosen.value
    return is && !found.some((c) => c.value === is.value) ? [...found, is] : found
  })
  // An actor may also be chosen in the log, and stays a choice when another search replaces the accounts.
  watch(actor, (value) => {
    const entry = entries().find((e) => e.actor === value)
    const title = choices.value.find((c) => c.value === value)?.title ?? (entry ? actorOf(entry) : value)
    chosen.value = value === null || title === null ? undefined : { value, title }
  }, { flush: 'sync' })
  return { typed, choices }
}
