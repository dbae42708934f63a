import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'

import { isFault } from '@shared/api/fault'

import type { Breakdown, Menu } from '../api/dto'
import { onReconnect } from '../shell/connection'
import type { Voucher } from './voucher'

export interface Quoted {
  total: number
  breakdown: Breakdown
}

const pause = 150 // ms after the last change; a guest often taps several times
const longest = 16_000 // ms before a failed request is repeated

/**
 * What the next order costs. In a branch without taxes and service charges that is the sum of its lines; in any other, and
 * for an order with a voucher, the server computes it.
 *
 * @param menu the branch's menu, which says whether the server has to be asked
 * @param lines what is ordered; the server is asked when it changes
 * @param sum the sum of the lines
 * @param voucher the voucher of the order; a code that the server refuses is removed
 * @param ask asks the server
 */
export function useQuote<L>(
  menu: () => Menu | undefined, lines: () => L, sum: () => number, voucher: Pick<Voucher, 'code' | 'refuse'>, ask: (lines: L) => Promise<Quoted>,
) {
  const answer = shallowRef<{ key: string; quoted: Quoted | undefined }>()
  const failed = ref(false) // the server could not be reached
  const needed = computed(() => (Boolean(menu()?.pricing) || voucher.code.value !== '') && sum() > 0)
  const key = computed(() => JSON.stringify([menu()?.menuVersionId, lines(), sum(), voucher.code.value]))
  const quoted = computed(() => (needed.value && answer.value?.key === key.value ? answer.value.quoted : undefined))
  /** Whether the total is known. */
  const ready = computed(() => !needed.value || answer.value?.key === key.value)
  const total = computed(() => quoted.value?.total ?? sum())

  let timer: ReturnType<typeof setTimeout> | undefined
  let turn = 0 // ends with the scope, or when the order changes
  /** @param wait the least time in ms before a failed request is repeated */
  async function load(wait = 1000): Promise<void> {
    const mine = ++turn
    const of = key.value
    try {
      const got = await ask(lines())
      if (mine !== turn || of !== key.value) return
      answer.value = { key: of, quoted: got }
      failed.value = false
    } catch (e) {
      if (!isFault(e)) throw e
      if (mine !== turn || of !== key.value || voucher.refuse(e)) return // without the code the total is another one
      // Any other refusal concerns the lines. The order is refused for the same reason, and that refusal is shown.
      failed.value = e.passing
      if (!e.passing) answer.value = { key: of, quoted: undefined }
      // A server that is too busy has answered, so no reconnection follows.
      else timer = setTimeout(() => void load(Math.min(wait * 2, longest)), Math.max(wait, e.retryAfter * 1000))
    }
  }
  function stop(): void {
    turn++
    clearTimeout(timer)
  }
  function plan(): void {
    stop()
    if (needed.value && !ready.value) timer = setTimeout(() => void load(), answer.value ? pause : 0)
    else failed.value = false
  }
  watch([needed, key], plan, { immediate: true })
  onReconnect(() => { if (failed.value) plan() })
  onScopeDispose(stop)

  return { quoted, ready, failed, total }
}
