import type { components } from '@shared/api/schema'
import { t } from '../shell/i18n'

type Schemas = components['schemas']

export type Order = Schemas['OrderingStaffDetail']
export type ListedOrder = Schemas['OrderingStaffOrder']
export type Attempt = Schemas['OrderingAttempt']
export type Refund = Schemas['OrderingRefund']
export type Exception = Schemas['OrderingException']
export type Mismatch = Schemas['OrderingMismatch']

/** Whether the counter may take the order's money. */
export function payable(o: Order): boolean {
  return o.status === 'PLACED' && o.paymentStatus === 'UNPAID'
}

/** Whether the counter may accept the order although its time to pay is over. Only the server knows whether it still can be made. */
export function revivable(o: Pick<Order, 'status' | 'paymentStatus' | 'cancelReason'>): boolean {
  return o.status === 'CANCELED' && o.paymentStatus === 'CANCELED' && o.cancelReason === 'EXPIRED'
}

/** Where an order goes: to a table, or to a receiver, if the user may see it. */
export function placeOf(o: Pick<ListedOrder, 'kind' | 'tableLabel' | 'receiverName'>): string {
  if (o.kind === 'DINE_IN') return t('board.table', { label: o.tableLabel })
  return `${t(`board.kind_${o.kind}`)} ${o.receiverName}`.trim()
}

/** The status of an order. Unsettled money takes precedence over the kitchen status. */
export function stateText(o: Pick<ListedOrder, 'status' | 'paymentStatus' | 'cancelReason'>): string {
  if (revivable(o)) return t('orders.timed_out')
  return t(o.paymentStatus === 'PAID' || o.status === 'CANCELED' ? `orders.status_${o.status}` : `board.pay_${o.paymentStatus}`)
}

/** The colour of that word; without one where there is nothing left to do. */
export function stateColour(o: Pick<ListedOrder, 'status' | 'paymentStatus'>): string | undefined {
  if (['UNPAID', 'CONFIRMING', 'REFUND_DUE'].includes(o.paymentStatus)) return 'warning'
  return o.paymentStatus === 'PAID' && !['SERVED', 'COMPLETED'].includes(o.status) ? 'success' : undefined
}

/** Whether an order was paid at the counter. */
export function paidInCash(o: Order): boolean {
  return o.payments.some((a) => a.method === 'COUNTER' && a.state === 'PAID')
}

/** What of the order's money can still be given back, in minor units. */
export function refundable(o: Order): number {
  return o.paymentStatus === 'PAID' ? Math.max(0, o.totalPrice - o.refunded) : 0
}

/** Whether a gateway can be asked about an attempt: money may be on its way that nobody has heard of. */
export function checkable(a: Pick<Attempt, 'state' | 'method'>): boolean {
  return a.method !== 'COUNTER' && a.method !== 'SANDBOX' && ['REDIRECTED', 'CONFIRMING', 'UNKNOWN', 'REVIEW'].includes(a.state)
}

/** Whether staff may record the result of a payment by hand. */
export function judgeable(a: Pick<Attempt, 'state' | 'method'>): boolean {
  return a.method !== 'COUNTER' && ['UNKNOWN', 'REVIEW'].includes(a.state)
}

/**
 * Whether staff may decide how a refund continues. One that is being sent may still arrive: a second one by hand would pay
 * the money back twice.
 */
export function settleable(r: { state: string }): boolean {
  return r.state !== 'DONE' && r.state !== 'SENDING'
}

/** Whether an order has a surplus payment: captured, but not the one that pays the order. */
export function surplus(o: Order): Attempt[] {
  return o.payments.filter((a) => a.state === 'PAID').slice(1)
}
