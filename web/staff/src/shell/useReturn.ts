import { onScopeDispose, ref } from 'vue'

import { keepsSession, person, resume } from './session'

/** How often a server that is away is asked again, in ms. */
const every = 3_000

/**
 * Goes on with the session that a device keeps, as soon as the server answers: a screen that was opened during an outage
 * comes back without anybody's help. `done` is called then.
 */
export function useReturn(done: () => unknown) {
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
      timer = setTimeout(() => void begin(), every)
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
