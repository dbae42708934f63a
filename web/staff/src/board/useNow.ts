import { onScopeDispose, ref } from 'vue'

import { serverNow } from '@shared/time'

/** The server's time, looked at every few seconds: ages are shown in minutes. */
export function useNow(every = 5_000) {
  const now = ref(serverNow())
  const timer = setInterval(() => {
    now.value = serverNow()
  }, every)
  onScopeDispose(() => {
    clearInterval(timer)
  })
  return now
}
