import { ref, watch } from 'vue'

import { newTxnId } from '@shared/txn'
import { changeBranch } from '../shell/branch'
import { t } from '../shell/i18n'
import { useDo } from '../shell/query'
import { api } from '../shell/session'
import { bodyOf, emptyBranch } from './branch'

/** The fields of a new branch and the request that creates it. */
export function useNewBranch(created: () => void) {
  const given = ref(emptyBranch())
  const id = ref(newTxnId())
  watch(given, () => { id.value = newTxnId() }, { deep: true }) // other values are another request
  const create = useDo((body: ReturnType<typeof bodyOf>) => api.POST('/api/branches', { body }), {
    touches: ['branches'],
    done: (b, sent) => {
      changeBranch(b.id)
      if (sent.clientTxnId === id.value) finish()
      return t('restaurant.branch_created', { name: b.name })
    },
  })

  /** Empties the form, unless another branch has been typed since. */
  function finish() {
    given.value = emptyBranch()
    id.value = newTxnId()
    created()
  }

  return { given, creating: create.isPending, create: () => { create.mutate(bodyOf(given.value, id.value)) } }
}
