import { onScopeDispose, ref } from 'vue'

import { keepsSession, person, resume } from './session'

/** The interval in ms between two requests to an unreachable server. */
const pollInterval = 3_000

/**
 * Continues the device's stored session as soon as the server answers, so that a screen opened during an outage recovers by
 * itself. It then calls `done`.
 */
export function useSessionRecovery(done: () => unknown) {
  const waiting = ref(false)
  const offline = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined

  async function begin(): Promise<void> {
    clearTimeout(timer)
    // A login in another tab counts too. A session that has ended is no longer stored.
    waiting.value = !person.value && keepsSession()
    if (!waiting.value) return
    try {
      if (await resume()) done()
      waiting.value = false
    } catch {
      offline.value = true
      timer = setTimeout(() => void begin(), pollInterval)
    }
  }

  const now = () => {
    if (waiting.value) void begin()
  }
  addEventListener('online', now)
  onScopeDispose(() => {
    clearTimeout(timer)
    waiting.value = false
    removeEventListener('online', now)
  })
  return { waiting, offline, begin }
}
