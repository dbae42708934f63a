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

/** Whose order it is: that of a table's guest, or the logged-in member's. They may be two people at one phone. */
export type Orderer = 'guest' | 'member'

/** The code of an orderer's next order. Like the cart, it survives a reload: phones discard pages in the background. */
function keep(orderer: Orderer) {
  const key = `comanda.voucher.${orderer}`
  const code = ref(recall(key) ?? '')
  watch(code, (now) => {
    remember(key, now)
  }, { flush: 'sync' })
  return { code, refusal: shallowRef<Refusal>() }
}

const kept = { guest: keep('guest'), member: keep('member') }

/** Removes the code of an orderer who has left this phone. */
export function forgetVoucher(orderer: Orderer): void {
  useVoucher(orderer).enter('')
}

/** The voucher of the next order. */
export function useVoucher(orderer: Orderer) {
  const { code, refusal } = kept[orderer]

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
