import type { components } from '@shared/api/schema'
import { hasText, t } from '../shell/i18n'

type Schemas = components['schemas']

export type Order = Schemas['OrderingStaffDetail']
export type ListedOrder = Schemas['OrderingStaffOrder']
export type Attempt = Schemas['OrderingAttempt']
export type Exception = Schemas['OrderingException']
export type Mismatch = Schemas['OrderingMismatch']

/** Whether staff may record a payment of the order at the counter. */
export function payable(o: Order): boolean {
  return o.status === 'PLACED' && o.paymentStatus === 'UNPAID'
}

/** Whether staff may still accept an expired order. Only the server knows whether its dishes are still available. */
export function revivable(o: Pick<Order, 'status' | 'paymentStatus' | 'cancelReason'>): boolean {
  return o.status === 'CANCELED' && o.paymentStatus === 'CANCELED' && o.cancelReason === 'EXPIRED'
}

/** Where an order goes: to a table, or to a receiver, if the user may see it. */
export function placeOf(o: Pick<ListedOrder, 'kind' | 'tableLabel' | 'receiverName'>): string {
  if (o.kind === 'DINE_IN') return t('board.table', { label: o.tableLabel })
  return [t(`board.kind_${o.kind}`), o.receiverName].filter(Boolean).join(' · ')
}

/** The status of an order. Unsettled money takes precedence over the kitchen status. */
export function stateText(o: Pick<ListedOrder, 'status' | 'paymentStatus' | 'cancelReason'>): string {
  if (revivable(o)) return t('orders.timed_out')
  return t(o.paymentStatus === 'PAID' || o.status === 'CANCELED' ? `orders.status_${o.status}` : `board.pay_${o.paymentStatus}`)
}

/** The colour of an order's status; undefined if there is nothing left to do. */
export function stateColour(o: Pick<ListedOrder, 'status' | 'paymentStatus'>): string | undefined {
  if (['UNPAID', 'CONFIRMING', 'REFUND_DUE'].includes(o.paymentStatus)) return 'warning'
  return o.paymentStatus === 'PAID' && !['SERVED', 'COMPLETED'].includes(o.status) ? 'success' : undefined
}

/** Whether an order was paid at the counter. */
export function paidInCash(o: Order): boolean {
  return o.payments.some((a) => a.method === 'COUNTER' && a.state === 'PAID')
}

/** What staff read after a refund. Only cash of the counter is handed over: other money is with the gateway. */
export function refundText(o: Pick<Order, 'payments'>, r: { state: string; paymentId: string }): string {
  if (r.state !== 'DONE') return t('orders.refund_made')
  const cash = o.payments.some((a) => a.id === r.paymentId && a.method === 'COUNTER')
  return t(cash ? 'orders.refund_given' : 'orders.refund_recorded')
}

/** The amount that can still be refunded, in minor units. */
export function refundable(o: Order): number {
  return o.paymentStatus === 'PAID' ? Math.max(0, o.totalPrice - o.refunded) : 0
}

/** The refunds that have been paid out, in minor units. */
export function paidBack(o: Pick<Order, 'refunds'>): number {
  return (o.refunds ?? []).filter((r) => r.state === 'DONE').reduce((sum, r) => sum + r.amount, 0)
}

/** The state of an attempt as text. At the counter nothing has started before the guest pays. */
export function attemptText(a: { state: string; method: string }): string {
  return t(a.method === 'COUNTER' && a.state === 'CREATED' ? 'board.pay_UNPAID' : `orders.attempt_${a.state}`)
}

/** Whether staff may query the gateway about an attempt, because it may have collected money without a notification. */
export function checkable(a: Pick<Attempt, 'state' | 'method'>): boolean {
  return a.method !== 'COUNTER' && a.method !== 'SANDBOX' && ['REDIRECTED', 'CONFIRMING', 'UNKNOWN', 'REVIEW'].includes(a.state)
}

/** Whether staff may record the result of a payment by hand. A success that the gateway reports later still counts. */
export function canRecordResult(a: Pick<Attempt, 'state' | 'method'>): boolean {
  return a.method !== 'COUNTER' && ['CONFIRMING', 'UNKNOWN', 'REVIEW'].includes(a.state)
}

/**
 * Whether staff may decide how a refund continues. A refund that is being sent may still succeed, and a second one by hand
 * would then return the money twice.
 */
export function settleable(r: { state: string }): boolean {
  return r.state !== 'DONE' && r.state !== 'SENDING'
}

/**
 * The surplus payments of an order: all captured ones except the first, which pays the order. A payment that was refunded
 * automatically, such as a second one or one of the price before a discount, is no longer surplus.
 */
export function surplus(o: Pick<Order, 'payments' | 'refunds'>): Attempt[] {
  const returned = (o.refunds ?? []).filter((r) => r.reason && r.reason !== 'STAFF').map((r) => r.paymentId)
  return o.payments.filter((a) => a.state === 'PAID' && !returned.includes(a.id)).slice(1)
}

/** Returns the reason of a refund as text. A reason without a text is shown as the server sent it. */
export function refundReason(reason: string | undefined): string {
  const key = `orders.because_${reason ?? ''}`
  return hasText(key) ? t(key) : (reason ?? '')
}
