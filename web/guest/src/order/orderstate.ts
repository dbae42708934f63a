import type { Key } from '@shared/i18n'

import type { Order } from '../api/dto'

/**
 * Where an order is, as its headline says it: first its money, then what the kitchen does. Nothing has failed as long as
 * the gateway has not said so, and no order is offered to be paid a second time while a payment may still succeed.
 */
export type OrderState =
  | 'counter' // to be paid to a person
  | 'sandbox' // to be paid on this page, in demonstrations
  | 'waiting' // to be paid on the gateway's page
  | 'failed' // that payment did not succeed; another may
  | 'over' // the time to pay is over, the server has not ended the order yet
  | 'checking' // the gateway is being asked
  | 'paid'
  | 'accepted'
  | 'preparing'
  | 'ready'
  | 'served' // or picked up, or delivered
  | 'expired'
  | 'canceled'
  | 'refund'
  | 'refunded'

const kitchen: Partial<Record<string, OrderState>> = {
  ACCEPTED: 'accepted', PREPARING: 'preparing', READY: 'ready', SERVED: 'served', COMPLETED: 'served',
}

/** The state of an order at an instant, in the server's milliseconds since 1970. */
export function orderStateOf(order: Order, now: number): OrderState {
  switch (order.paymentStatus) {
    case 'PAID':
      return kitchen[order.status] ?? 'paid'
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
  if (isOver(order, now)) return 'over'
  const last = attempts.at(-1)
  const method = last?.method ?? order.payment.method
  if (last?.state === 'FAILED' || last?.state === 'CANCELED') return 'failed'
  if (method === 'COUNTER') return 'counter'
  return method === 'SANDBOX' ? 'sandbox' : 'waiting'
}

/** Whether the time in which an order is to be paid has run out. The server gives it some seconds more before it ends. */
function isOver(order: Pick<Order, 'payBy'>, now: number): boolean {
  return now >= Date.parse(order.payBy)
}

/** Whether an order may still be paid, so that the time left matters. */
export function isOpen(state: OrderState): boolean {
  return state === 'counter' || state === 'sandbox' || state === 'waiting' || state === 'failed'
}

const tones: Partial<Record<OrderState, 'good' | 'bad'>> = {
  paid: 'good', accepted: 'good', preparing: 'good', ready: 'good', served: 'good', failed: 'bad', expired: 'bad',
}

/** The colour of a headline; undefined where it is neither good nor bad. */
export function toneOf(state: OrderState): 'good' | 'bad' | undefined {
  return tones[state]
}

const heads: Record<OrderState, [Key, Key]> = {
  counter: ['confirm.counter', 'confirm.counterHint'],
  sandbox: ['confirm.waiting', 'confirm.waitingHint'],
  waiting: ['confirm.waiting', 'confirm.waitingHint'],
  failed: ['confirm.failed', 'confirm.failedHint'],
  over: ['confirm.over', 'confirm.overHint'],
  checking: ['confirm.checking', 'confirm.checkingHint'],
  paid: ['confirm.paid', 'confirm.paidHint'],
  accepted: ['confirm.accepted', 'confirm.acceptedHint'],
  preparing: ['confirm.preparing', 'confirm.preparingHint'],
  ready: ['confirm.ready', 'confirm.readyHint'],
  served: ['confirm.served', 'confirm.servedHint'],
  expired: ['confirm.expired', 'confirm.expiredHint'],
  canceled: ['confirm.canceled', 'confirm.canceledHint'],
  refund: ['confirm.refund', 'confirm.refundHint'],
  refunded: ['confirm.refunded', 'confirm.refundedHint'],
}

/** An order's headline and hint for a guest at a table. */
export function headOf(order: Order, state: OrderState): [Key, Key] {
  const byStaff = state === 'refund' && (order.refunds ?? []).some((r) => r.reason === 'STAFF')
  return byStaff ? [heads.refund[0], 'confirm.refundStaff'] : heads[state]
}

const fiveMinutes = 5 * 60_000

/**
 * What a guest reads about the time until an order is ready; undefined where the server has no estimate. The time is
 * rounded up to five minutes: an estimate to the minute would promise more than the kitchen's figures can.
 */
export function expectationOf(order: Order, now: number): { text: Key; time?: string } | undefined {
  if (!order.expectedAt) return undefined
  const at = Math.ceil(Date.parse(order.expectedAt) / fiveMinutes) * fiveMinutes
  return at > now ? { text: 'confirm.expected', time: new Date(at).toISOString() } : { text: 'confirm.longer' }
}

const names: Record<string, Key> = {
  UNPAID: 'visit.unpaid', CONFIRMING: 'visit.checking', PAID: 'visit.paid', CANCELED: 'visit.canceled',
  REFUND_DUE: 'visit.refund', REFUNDED: 'visit.refunded',
}

/** What lists say of an order's money. */
export function payName(order: Pick<Order, 'paymentStatus' | 'payBy'>, now: number): Key {
  if (order.paymentStatus === 'UNPAID' && isOver(order, now)) return 'visit.checking'
  return names[order.paymentStatus] ?? 'visit.unpaid'
}

/** Whether a list offers to pay an order. */
export function isPayable(order: Pick<Order, 'paymentStatus' | 'payBy'>, now: number): boolean {
  return order.paymentStatus === 'UNPAID' && !isOver(order, now)
}
