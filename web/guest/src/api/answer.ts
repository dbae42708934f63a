import { answer as answerOf, type Answer } from '@shared/api/client'
import { isFault } from '@shared/api/fault'

import { offline, whenReachable } from '../shell/connection'

// Without an answer, and when a proxy has nobody behind it, the server is out of reach.
const away = [0, 502, 504]

/** Gives what an operation answers, or throws a Fault. A server that is out of reach is watched for until it is back. */
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
