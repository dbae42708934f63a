import { isFault } from '@shared/api/fault'
import { untilReachable } from '@shared/reachable'

/**
 * Sends a request that may be repeated. If the server cannot be reached, it calls `away`, waits for the server and sends the
 * request once more. A second failure is final: the server may be back, but not for this request. It returns undefined without
 * sending again if the answer is no longer `wanted`.
 */
export async function retryAfterOutage<T>(send: () => Promise<T>, away: () => void, wanted: () => boolean): Promise<T | undefined> {
  try {
    return await send()
  } catch (e) {
    if (!isFault(e, 'offline') || !wanted()) throw e
  }
  away()
  await untilReachable('/console/')
  return wanted() ? send() : undefined
}
