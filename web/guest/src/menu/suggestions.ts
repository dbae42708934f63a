import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'

import { language } from '@shared/i18n'

import { popularSearches } from '../api/public'
import { contains, plain, wordsOf } from './search'
import { searchedFor } from './views'

const fresh = 60_000 // ms between two requests of a branch
const pause = 2000 // ms without a key until a text counts as a search

const all = shallowRef<string[]>([])
let of = '' // branch and language
let loadedAt = -Infinity

/** Fetches what other guests of a branch search for, at most once a minute. Without an answer the last texts stay. */
async function load(branchId: string): Promise<void> {
  const mine = `${branchId} ${language.value}`
  if (!branchId || (mine === of && performance.now() - loadedAt < fresh)) return
  if (mine !== of) all.value = []
  of = mine
  loadedAt = performance.now()
  try {
    const { searches } = await popularSearches(branchId)
    if (mine === of) all.value = searches ?? []
  } catch {
    // The search works without them.
  }
}

/**
 * Suggestions for a search field: what other guests search for and what continues the typed text, or all of it if nothing
 * matches. What the guest searches for is reported, once the text has not changed for a while or is removed.
 */
export function useSuggestions(query: Ref<string>, branchId: () => string, none: () => boolean) {
  const asked = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  let typed = '' // not reported yet

  function finish(): void {
    clearTimeout(timer)
    if (typed) searchedFor(typed)
    typed = ''
  }
  watch(query, (text) => {
    clearTimeout(timer)
    if (!text.trim()) {
      finish()
      return
    }
    typed = text.trim()
    timer = setTimeout(finish, pause)
  })
  onScopeDispose(finish)

  return {
    texts: computed(() => {
      if (!asked.value) return []
      if (none()) return all.value
      const words = wordsOf(query.value)
      return all.value.filter((text) => contains(plain(text), words) && plain(text) !== words.join(' '))
    }),
    load: () => {
      asked.value = true
      void load(branchId())
    },
    finish,
  }
}
