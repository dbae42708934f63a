import { onScopeDispose, ref, watch } from 'vue'
import { useRouter } from 'vue-router'

import { language } from '@shared/i18n'

import { onReconnect } from '../shell/connection'
import { useTableOrders } from './orders'
import { useSession } from './session'

const pollInterval = 10_000 // ms; other phones at the table also place orders

/**
 * The orders of the phone's visit, loaded again until the calling scope ends. A visit that has ended leads to the page that
 * says so, unless the guest has left by then.
 */
export function useVisitOrders() {
  const session = useSession()
  const router = useRouter()
  const { orders, fault, load: loadOf } = useTableOrders()
  const busy = ref(false)
  let disposed = false

  async function load(): Promise<void> {
    if (!session.draft) return
    busy.value = true
    await loadOf(session.draft.visitId)
    busy.value = false
    if (!disposed && fault.value && !fault.value.passing) await router.replace({ name: 'closed', params: { reason: 'ended' } })
  }

  const timer = setInterval(() => {
    if (!document.hidden) void load()
  }, pollInterval)
  onScopeDispose(() => {
    disposed = true
    clearInterval(timer)
  })

  watch(language, load)
  onReconnect(() => fault.value && load())
  return { orders, fault, busy, load }
}
