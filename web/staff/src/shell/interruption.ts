import { computed, shallowRef } from 'vue'

import { Fault } from '@shared/api/fault'

// The server can end the session of a user at work: after half an hour without a request, or by a change of their password.
// The page stays with what they have typed, and its requests wait until they log in again.

interface Waiting {
  over: Promise<void>
  end: () => void
  fail: (why: Fault) => void
}
const waiting = shallowRef<Waiting>()

/** Whether requests wait for the user to log in again. */
export const interrupted = computed(() => waiting.value !== undefined)

/** Lets requests wait from now on. */
export function interrupt(): void {
  if (waiting.value) return
  let end: Waiting['end'] = () => undefined
  let fail: Waiting['fail'] = () => undefined
  const over = new Promise<void>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  over.catch(() => undefined) // perhaps no request waits
  waiting.value = { over, end, fail }
}

/** Lets the requests continue: the user is logged in, or another user is. */
export function proceed(): void {
  waiting.value?.end()
  waiting.value = undefined
}

/** Lets the requests fail: the user has left. */
export function abandon(): void {
  waiting.value?.fail(new Fault('unauthenticated', 401))
  waiting.value = undefined
}

/** Returns after an interruption, or at once without one. It throws after abandon. */
export async function untilProceeded(): Promise<void> {
  await waiting.value?.over
}
