import { computed, nextTick, ref, shallowRef } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'

import { onReconnect } from '../shell/connection'
import { textFor, wrongFields } from './faults'

/** The state of a form: busy while it is sent, and the reason of a rejection in the current language. */
export function useForm() {
  const busy = ref(false)
  const fault = shallowRef<Fault>()
  const trouble = computed(() => (fault.value ? textFor(fault.value) : ''))
  const wrong = computed<Partial<Record<string, string>>>(() => (fault.value ? wrongFields(fault.value) : {}))

  onReconnect(() => {
    if (fault.value?.passing) fault.value = undefined // the server is reachable again
  })

  /** Runs a request and reports whether it succeeded. A rejection is shown, and its first field gets the focus. */
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
