import { computed, nextTick, ref, shallowRef } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'

import { onReconnect } from '../shell/connection'
import { textFor, wrongFields } from './faults'

/** A form that is sent once at a time, and what the server had against it, in the present language. */
export function useForm() {
  const busy = ref(false)
  const fault = shallowRef<Fault>()
  const trouble = computed(() => (fault.value ? textFor(fault.value) : ''))
  const wrong = computed<Partial<Record<string, string>>>(() => (fault.value ? wrongFields(fault.value) : {}))

  onReconnect(() => {
    if (fault.value?.passing) fault.value = undefined // what was out of reach is back
  })

  /** Does it and gives true, or shows why not: the first field that is wrong is where one goes on. */
  async function run(what: () => Promise<unknown>): Promise<boolean> {
    if (busy.value) return false
    busy.value = true
    fault.value = undefined
    try {
      await what()
      return true
    } catch (e) {
      if (!isFault(e)) throw e
      fault.value = e
      return false
    } finally {
      busy.value = false
      await nextTick()
      document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus()
    }
  }

  return { busy, fault, trouble, wrong, run }
}
