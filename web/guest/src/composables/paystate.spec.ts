import { expect, test } from 'vitest'

import type { Order } from '../types/dto'
import { isOpen, payStateOf } from './paystate'

type Attempt = Order['payments'][number]

/** An order with one attempt for each "METHOD STATE". */
function order(status: string, paymentStatus: string, attempts: string[], cancelReason = ''): Order {
  const payments = attempts.map((text, i) => {
    const [method = '', state = ''] = text.split(' ')
    return { id: String(i), method, state, amount: 1, currency: 'VND', createdAt: '', settledAt: null } as Attempt
  })
  return { status, paymentStatus, payments, cancelReason, payment: { method: 'COUNTER', redirectUrl: null } } as unknown as Order
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
  ['paid', order('PLACED', 'PAID', ['VNPAY FAILED', 'COUNTER PAID'])],
  ['expired', order('CANCELED', 'CANCELED', ['VNPAY REDIRECTED'], 'EXPIRED')],
  ['canceled', order('CANCELED', 'CANCELED', ['COUNTER CREATED'], 'USER_CANCELED')],
  ['refund', order('CANCELED', 'REFUND_DUE', ['VNPAY PAID'])],
  ['refunded', order('CANCELED', 'REFUNDED', ['VNPAY PAID'])],
])('%s', (want, of) => {
  expect(payStateOf(of)).toBe(want)
})

test('an order whose payment is unknown is not offered to be paid again', () => {
  expect(isOpen(payStateOf(order('PLACED', 'UNPAID', ['VNPAY UNKNOWN'])))).toBe(false)
})
