import { onScopeDispose, ref } from 'vue'

import { serverNow } from '@shared/time'

/** The server's time, updated every second. */
export function useNow() {
  const now = ref(serverNow())
  const timer = setInterval(() => {
    now.value = serverNow()
  }, 1000)
  onScopeDispose(() => {
    clearInterval(timer)
  })
  return now
}
