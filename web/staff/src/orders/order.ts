import type { components } from '@shared/api/schema'

type Schemas = components['schemas']

export type Order = Schemas['OrderingDetail']
export type Attempt = Schemas['OrderingAttempt']
export type Refund = Schemas['OrderingRefund']
export type Exception = Schemas['OrderingException']
export type Mismatch = Schemas['OrderingMismatch']

/** Whether the counter may take the order's money. */
export function payable(o: Order): boolean {
  return o.status === 'PLACED' && o.paymentStatus === 'UNPAID'
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

/** Whether somebody may write down what the gateway's own console says. */
export function judgeable(a: Pick<Attempt, 'state' | 'method'>): boolean {
  return a.method !== 'COUNTER' && ['UNKNOWN', 'REVIEW'].includes(a.state)
}

/**
 * Whether somebody may decide how a refund goes on. One that is on its way may arrive at any moment: who gave the money
 * back by hand would give it twice.
 */
export function settleable(r: { state: string }): boolean {
  return r.state !== 'DONE' && r.state !== 'SENDING'
}

/** Whether an order's money came twice or for nothing: captured, but not what pays the order. */
export function surplus(o: Order): Attempt[] {
  return o.payments.filter((a) => a.state === 'PAID').slice(1)
}
