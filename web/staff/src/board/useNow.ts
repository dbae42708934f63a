import { onScopeDispose, ref } from 'vue'

import { serverNow } from '@shared/time'

/** The server's time, updated every few seconds, which is enough for ages in minutes. */
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
