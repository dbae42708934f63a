import { ref, shallowRef, watch } from 'vue'

import type { Fault } from '@shared/api/fault'
import type { Key } from '@shared/i18n'

import { recall, remember } from '../shell/preferences'

const words: Record<string, Key> = {
  voucher_not_yet: 'voucher.notYet', voucher_expired: 'voucher.expired', voucher_used_up: 'voucher.usedUp', voucher_taken: 'voucher.taken',
  voucher_members_only: 'voucher.members', voucher_minimum: 'voucher.minimum', rate_limited: 'voucher.wait',
}

export interface Refusal {
  text: Key
  minGoods: number // the least sum of the dishes, if that is the reason
}

// The code of the next order. Like the cart, it survives a reload: phones discard pages in the background.
const storeKey = 'comanda.voucher'
const code = ref(recall(storeKey) ?? '')
watch(code, (now) => {
  remember(storeKey, now)
}, { flush: 'sync' })
const refusal = shallowRef<Refusal>()

/** The voucher of the next order. */
export function useVoucher() {
  /** Sets the code that a guest typed; an empty one removes it. */
  function enter(typed: string): void {
    refusal.value = undefined
    code.value = typed.trim().toUpperCase()
  }

  /** Removes a code that the server refused, and reports whether that was the reason of a fault. */
  function refuse(fault: Fault): boolean {
    if (!code.value || !(fault.code.startsWith('voucher_') || fault.code === 'rate_limited')) return false
    code.value = ''
    const { minGoods } = fault.problem
    refusal.value = { text: words[fault.code] ?? 'voucher.unknown', minGoods: typeof minGoods === 'number' ? minGoods : 0 }
    return true
  }

  return { code, refusal, enter, refuse, wired: () => (code.value ? { voucher: code.value } : {}) }
}

export type Voucher = ReturnType<typeof useVoucher>
