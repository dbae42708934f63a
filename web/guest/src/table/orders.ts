import { shallowRef } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'

import type { ListedOrder } from '../api/dto'
import { ordersOfVisit } from '../api/public'
import { useSession } from './session'

// The orders of the table's visit, shared by the header and the page that lists them.
const orders = shallowRef<ListedOrder[]>()
const fault = shallowRef<Fault>()
let of = ''
let generation = 0

/** Loads the orders of a visit, and its table. A late answer does not replace a newer one. */
async function load(visitId: string): Promise<void> {
  const mine = ++generation
  if (visitId !== of) orders.value = undefined
  of = visitId
  try {
    const got = await ordersOfVisit(visitId)
    if (mine !== generation) return
    orders.value = got.orders
    useSession().seat(visitId, got.table)
    fault.value = undefined
  } catch (e) {
    if (!isFault(e)) throw e
    if (mine === generation) fault.value = e
  }
}

/** The orders of all phones of the table. */
export function useTableOrders() {
  return { orders, fault, load }
}

/** The amount that was paid for orders, without what is refunded. */
export function paidOf(orders: readonly ListedOrder[]): number {
  return orders.reduce((sum, o) => (o.paymentStatus === 'PAID' ? sum + o.totalPrice - o.refunded : sum), 0)
}

/** Whether money of orders was paid back or will be, so that paidOf is less than their totals. */
export function hasRefunds(orders: readonly ListedOrder[]): boolean {
  return orders.some((o) => o.refunded > 0 || o.paymentStatus.startsWith('REFUND'))
}

/** The amounts that the phones of a table have paid, the own one first; empty at a table with one phone. */
export function sharesOf(orders: readonly ListedOrder[]): { phone: number; mine: boolean; paid: number }[] {
  const shares = new Map<number, { phone: number; mine: boolean; paid: number }>()
  for (const o of orders) {
    const share = shares.get(o.phone) ?? { phone: o.phone, mine: o.mine, paid: 0 }
    share.paid += paidOf([o])
    shares.set(o.phone, share)
  }
  if (shares.size < 2) return []
  return [...shares.values()].sort((a, b) => Number(b.mine) - Number(a.mine) || a.phone - b.phone)
}
