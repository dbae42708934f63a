import { expect, test } from 'vitest'

import type { Order } from '../api/dto'
import { expectationOf, headOf, isOpen, isPayable, orderStateOf, paymentTextKey, refundedPart } from './orderstate'

type Attempt = Order['payments'][number]

const end = Date.parse('2026-02-26T05:15:00Z') // payment deadline

/** An order with one attempt for each "METHOD STATE". */
function order(status: string, paymentStatus: string, attempts: string[], cancelReason = ''): Order {
  const payments = attempts.map((text, i) => {
    const [method = '', state = ''] = text.split(' ')
    return { id: String(i), method, state, amount: 1, currency: 'VND', createdAt: '', settledAt: null } as Attempt
  })
  const payBy = new Date(end).toISOString()
  return { status, paymentStatus, payments, cancelReason, payBy, payment: { method: 'COUNTER', redirectUrl: null } } as unknown as Order
}

test.each([
  ['counter', order('PLACED', 'UNPAID', ['COUNTER CREATED'])],
  ['counter', order('PLACED', 'UNPAID', [])],
  ['sandbox', order('PLACED', 'UNPAID', ['SANDBOX CREATED'])],
  ['waiting', order('PLACED', 'UNPAID', ['VNPAY REDIRECTED'])],
  ['waiting', order('PLACED', 'UNPAID', ['VNPAY FAILED', 'LINEPAY CREATED'])],
  ['failed', order('PLACED', 'UNPAID', ['VNPAY FAILED'])],
  ['failed', order('PLACED', 'UNPAID', ['LINEPAY CANCELED'])],
  ['checking', order('PLACED', 'CONFIRMING', ['LINEPAY CONFIRMING'])],
  ['checking', order('PLACED', 'UNPAID', ['VNPAY UNKNOWN'])],
  ['checking', order('PLACED', 'UNPAID', ['VNPAY UNKNOWN', 'LINEPAY REDIRECTED'])],
  ['checking', order('CANCELED', 'CANCELED', ['VNPAY UNKNOWN'], 'EXPIRED')],
  ['accepted', order('ACCEPTED', 'PAID', ['COUNTER PAID'])],
  ['preparing', order('PREPARING', 'PAID', ['COUNTER PAID'])],
  ['ready', order('READY', 'PAID', ['COUNTER PAID'])],
  ['served', order('SERVED', 'PAID', ['COUNTER PAID'])],
  ['served', order('COMPLETED', 'PAID', ['COUNTER PAID'])],
  ['refund', order('READY', 'REFUND_DUE', ['VNPAY PAID'])],
  ['paid', order('PLACED', 'PAID', ['VNPAY FAILED', 'COUNTER PAID'])],
  ['expired', order('CANCELED', 'CANCELED', ['VNPAY REDIRECTED'], 'EXPIRED')],
  ['canceled', order('CANCELED', 'CANCELED', ['COUNTER CREATED'], 'USER_CANCELED')],
  ['refund', order('CANCELED', 'REFUND_DUE', ['VNPAY PAID'])],
  ['refunded', order('CANCELED', 'REFUNDED', ['VNPAY PAID'])],
])('%s', (want, of) => {
  expect(orderStateOf(of, end - 1)).toBe(want)
})

test.each([
  ['over', order('PLACED', 'UNPAID', ['COUNTER CREATED'])],
  ['over', order('PLACED', 'UNPAID', ['VNPAY FAILED'])],
  ['checking', order('PLACED', 'UNPAID', ['VNPAY UNKNOWN'])],
  ['expired', order('CANCELED', 'CANCELED', ['VNPAY REDIRECTED'], 'EXPIRED')],
  ['ready', order('READY', 'PAID', ['COUNTER PAID'])],
])('%s after the payment deadline', (want, of) => {
  expect(orderStateOf(of, end)).toBe(want)
})

test('an order can be paid until its deadline, but not while the outcome of a payment is unknown', () => {
  const waiting = order('PLACED', 'UNPAID', ['VNPAY REDIRECTED'])
  expect([isOpen(orderStateOf(waiting, end - 1)), isPayable(waiting, end - 1), paymentTextKey(waiting, end - 1)]).toEqual([true, true, 'visit.unpaid'])
  expect([isOpen(orderStateOf(waiting, end)), isPayable(waiting, end), paymentTextKey(waiting, end)]).toEqual([false, false, 'visit.checking'])
  expect(isOpen(orderStateOf(order('PLACED', 'UNPAID', ['VNPAY UNKNOWN']), 0))).toBe(false)
})

test('the text of a refund depends on its reason', () => {
  const late = order('CANCELED', 'REFUND_DUE', ['VNPAY PAID'])
  expect(headOf({ ...late, refunds: [{ reason: 'LATE_PAUSED' }] } as Order, 'refund')[1]).toBe('confirm.refundHint')
  expect(headOf({ ...late, refunds: [{ reason: 'STAFF' }] } as Order, 'refund')[1]).toBe('confirm.refundStaff')
})

test.each([
  ['05:17:20', '05:00:00', { text: 'confirm.expected', time: '2026-02-26T05:20:00.000Z' }],
  ['05:20:00', '05:19:59', { text: 'confirm.expected', time: '2026-02-26T05:20:00.000Z' }],
  ['05:17:20', '05:20:00', { text: 'confirm.longer' }],
])('an order expected at %s reads at %s', (at, now, want) => {
  const expected = { ...order('PLACED', 'PAID', []), expectedAt: `2026-02-26T${at}Z` }
  expect(expectationOf(expected, Date.parse(`2026-02-26T${now}Z`))).toEqual(want)
})

test('an order without an estimate shows no ready time', () => {
  expect(expectationOf(order('PLACED', 'PAID', []), 0)).toBeUndefined()
})

test('a list says how much of a paid order is paid back', () => {
  const listed = (paymentStatus: string, refunded: number) => refundedPart({ paymentStatus, refunded })
  expect([listed('PAID', 30), listed('PAID', 0), listed('REFUND_DUE', 100), listed('REFUNDED', 100)]).toEqual([30, 0, 0, 0])
})
