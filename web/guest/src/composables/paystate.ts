import type { Key } from '@shared/i18n'

import type { Order } from '../types/dto'

/**
 * What a guest is told of an order's money. Nothing has failed as long as the gateway has not said so, and nobody pays a
 * second time while a payment may still succeed.
 */
export type PayState =
  | 'counter' // to be paid to a person
  | 'sandbox' // to be paid on this page, in demonstrations
  | 'waiting' // to be paid on the gateway's page
  | 'checking' // the gateway is being asked
  | 'failed' // that payment did not succeed; another may
  | 'paid'
  | 'expired'
  | 'canceled'
  | 'refund'
  | 'refunded'

export function payStateOf(order: Order): PayState {
  switch (order.paymentStatus) {
    case 'PAID':
      return 'paid'
    case 'CONFIRMING':
      return 'checking'
    case 'REFUND_DUE':
      return 'refund'
    case 'REFUNDED':
      return 'refunded'
  }
  const attempts = order.payments ?? []
  const states = attempts.map((a) => a.state)
  if (states.some((s) => s === 'CONFIRMING' || s === 'UNKNOWN' || s === 'REVIEW')) return 'checking'
  if (order.status === 'CANCELED') return order.cancelReason === 'EXPIRED' ? 'expired' : 'canceled'
  const last = attempts.at(-1)
  const method = last?.method ?? order.payment.method
  if (last?.state === 'FAILED' || last?.state === 'CANCELED') return 'failed'
  if (method === 'COUNTER') return 'counter'
  return method === 'SANDBOX' ? 'sandbox' : 'waiting'
}

/** Whether an order may still be paid, so that the time left matters. */
export function isOpen(state: PayState): boolean {
  return state === 'counter' || state === 'sandbox' || state === 'waiting' || state === 'failed'
}

const names: Record<string, Key> = {
  UNPAID: 'visit.unpaid', CONFIRMING: 'visit.checking', PAID: 'visit.paid', CANCELED: 'visit.canceled',
  REFUND_DUE: 'visit.refund', REFUNDED: 'visit.refunded',
}

/** What lists say of an order's money. */
export function payName(paymentStatus: string): Key {
  return names[paymentStatus] ?? 'visit.unpaid'
}
