import { onScopeDispose, ref } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'

/** The state of a submission. */
export type SubmitState = 'idle' | 'sending' | 'waiting'

const longest = 8000

/**
 * Repeats an order's request until its outcome is known. Every attempt has the same clientTxnId, so the server creates one
 * order. A guest who accepts a total accepts a lower one, so an order that has become cheaper is sent again with its total.
 * When the calling scope has ended, nothing more is sent: the guest may have changed the cart, and its next order has the same
 * clientTxnId, so the server replays or refuses it if the earlier one did arrive.
 */
export function useSubmit<Body extends { expectedTotal?: number }, Placed>(send: (body: Body) => Promise<Placed>) {
  const state = ref<SubmitState>('idle')
  const cheaper = ref(false) // the order costs less than the guest accepted
  let resume: ((again: boolean) => void) | undefined
  let disposed = false
  /** Whether the calling scope has ended. */
  const left = () => disposed

  /** Returns the order, or undefined if the guest stopped the request or left the page; throws the server's refusal. */
  async function submit(given: Body): Promise<Placed | undefined> {
    let body = given
    let wait = 1000
    cheaper.value = false
    while (!left()) {
      state.value = 'sending'
      try {
        return done(await send(body))
      } catch (e) {
        if (left() && isFault(e)) break
        if (isFault(e, 'price_changed') && (e.currentTotal ?? Infinity) < (body.expectedTotal ?? 0)) {
          body = { ...body, expectedTotal: e.currentTotal }
          cheaper.value = true
          continue
        }
        if (!isFault(e) || !worthRepeating(e)) {
          done(undefined)
          throw e
        }
        state.value = 'waiting'
        if (!(await pause(Math.max(wait, e.retryAfter * 1000)))) return done(undefined)
        wait = Math.min(wait * 2, longest)
      }
    }
    return done(undefined)
  }

  function done<T>(result: T): T {
    state.value = 'idle'
    return result
  }

  function pause(milliseconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resume?.(true), milliseconds)
      const online = () => resume?.(true)
      addEventListener('online', online)
      resume = (again) => {
        clearTimeout(timer)
        removeEventListener('online', online)
        resume = undefined
        resolve(again)
      }
    })
  }

  const giveUp = () => resume?.(false)
  onScopeDispose(() => {
    disposed = true
    giveUp()
  })
  return { state, cheaper, submit, giveUp, left }
}

/** A repetition does not help against too many unpaid orders. */
function worthRepeating(fault: Fault): boolean {
  return fault.passing && fault.code !== 'too_many_unpaid'
}
