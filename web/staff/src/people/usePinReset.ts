import { computed, ref, watch } from 'vue'

import { t } from '../shell/i18n'
import { useDo } from '../shell/query'
import { api } from '../shell/session'
import { nameOf, type Account } from './people'
import { proposePin } from './team'

interface Outcome {
  /** Called with the account and its new PIN, even if the dialog shows another account by then. */
  reset: (account: Account, pin: string) => void
  /** Called if the dialog still shows the account. */
  close: () => void
}

/** The PIN that a dialog proposes for the shown account, and its reset. */
export function usePinReset(shown: () => Account | undefined, outcome: Outcome) {
  // Proposed once per opening: a request whose answer was lost is repeated with the same PIN, and has the same effect.
  const pin = ref('')
  watch(shown, (a) => {
    if (a) pin.value = proposePin()
  })

  const put = useDo(
    (g: { id: string; pin: string }) => api.PUT('/api/users/{id}/pin', { params: { path: { id: Number(g.id) } }, body: { pin: g.pin } }),
    {
      touches: ['users'],
      done: (a, g) => {
        outcome.reset(a, g.pin)
        if (shown()?.id === g.id) outcome.close()
        return t('people.pin_reset_done', { name: nameOf(a) })
      },
    },
  )
  return {
    pin,
    /** Whether the PIN of the shown account is being reset. */
    busy: computed(() => put.isPending.value && put.variables.value?.id === shown()?.id),
    send() {
      const a = shown()
      if (a) put.mutate({ id: a.id, pin: pin.value })
    },
  }
}
