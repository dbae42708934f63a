import { answer as answerOf, type Answer } from '@shared/api/client'
import { isFault } from '@shared/api/fault'

import { offline, whenReachable } from '../shell/connection'

// Statuses of an unreachable server: no answer, or a proxy without a server behind it.
const away = [0, 502, 504]

/** Returns the body of an answer, or throws a Fault. An unreachable server is polled until it answers. */
export async function answer<T>(call: Promise<Answer<T>>): Promise<T> {
  try {
    return await answerOf(call)
  } catch (e) {
    if (isFault(e) && away.includes(e.status)) {
      offline.value = true
      void whenReachable()
    }
    throw e
  }
}
