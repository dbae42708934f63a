import type { Key } from '@shared/i18n'

import type { ListedOrder, Order } from '../api/dto'

/**
 * The state that an order's headline shows: first the payment, then the kitchen. A payment counts as failed only after the
 * gateway has reported it, and an order cannot be paid again while an earlier payment may still succeed.
 */
export type OrderState =
  | 'counter' // to be paid at the counter
  | 'sandbox' // to be paid on this page, in demonstrations
  | 'waiting' // to be paid on the gateway's page
  | 'failed' // the payment failed; the guest may try another
  | 'over' // the payment deadline is over, but the server has not expired the order yet
  | 'checking' // the server is querying the gateway
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

/** The state of an order at an instant of the server's clock, in Unix milliseconds. */
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

/** Whether the payment deadline is over. The server allows some more seconds before it expires the order. */
function isOver(order: Pick<Order, 'payBy'>, now: number): boolean {
  return now >= Date.parse(order.payBy)
}

/** Whether an order may still be paid, so that its deadline is shown. */
export function isOpen(state: OrderState): boolean {
  return state === 'counter' || state === 'sandbox' || state === 'waiting' || state === 'failed'
}

const tones: Partial<Record<OrderState, 'good' | 'bad'>> = {
  paid: 'good', accepted: 'good', preparing: 'good', ready: 'good', served: 'good', failed: 'bad', expired: 'bad',
}

/** The colour of a headline; undefined for a neutral one. */
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
 * The text about the time until an order is ready; undefined without an estimate of the server. The time is rounded up to
 * five minutes, because the estimate is not more precise than that.
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

/** The text about an order's payment in lists. */
export function paymentTextKey(order: Pick<Order, 'paymentStatus' | 'payBy'>, now: number): Key {
  if (order.paymentStatus === 'UNPAID' && isOver(order, now)) return 'visit.checking'
  return names[order.paymentStatus] ?? 'visit.unpaid'
}

/** The part of a paid order that is paid back or will be, in minor units. An order that is refunded in full is not paid. */
export function refundedPart(order: Pick<ListedOrder, 'paymentStatus' | 'refunded'>): number {
  return order.paymentStatus === 'PAID' ? order.refunded : 0
}

/** Whether a list shows a button to pay an order. */
export function isPayable(order: Pick<Order, 'paymentStatus' | 'payBy'>, now: number): boolean {
  return order.paymentStatus === 'UNPAID' && !isOver(order, now)
}
