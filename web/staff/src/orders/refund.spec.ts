import { beforeAll, expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { attemptText, paidBack, placeOf, refundText, surplus, type Attempt, type Order } from './order'

beforeAll(() => changeLanguage('en'))

const paid = (method: Attempt['method']) => ({ payments: [{ id: '7', method } as Attempt] })
const refund = (state: string) => ({ state, paymentId: '7' })

test.each([
  ['cash', 'COUNTER', 'DONE', 'Give the customer the cash now.'],
  ['a refund made in the portal of the gateway', 'VNPAY', 'DONE', 'Refund recorded.'],
  ['a test payment', 'SANDBOX', 'DONE', 'Refund recorded.'],
  ['a gateway that is still to confirm', 'LINEPAY', 'SENDING', 'Refund started.'],
] as const)('staff hand over money only once: %s', (_, method, state, text) => {
  expect(refundText(paid(method), refund(state))).toBe(text)
})

test('only refunds that were paid out count as paid back', () => {
  const refunds = [{ state: 'DONE', amount: 650 }, { state: 'DONE', amount: 50 }, { state: 'SENDING', amount: 9000 }] as NonNullable<Order['refunds']>
  expect(paidBack({ refunds })).toBe(700)
  expect(paidBack({ refunds: [] })).toBe(0)
})

test.each([
  ['COUNTER', 'CREATED', 'Not paid yet'], ['COUNTER', 'PAID', 'Paid'], ['VNPAY', 'CREATED', 'Started'],
] as const)('a payment of the method %s in the state %s is called %s', (method, state, text) => {
  expect(attemptText({ method, state } as Attempt)).toBe(text)
})

test('an order from home is named by its kind and its receiver', () => {
  expect(placeOf({ kind: 'DELIVERY', tableLabel: '', receiverName: 'Nguyễn Lan' })).toBe('Delivery · Nguyễn Lan')
  expect(placeOf({ kind: 'PICKUP', tableLabel: '', receiverName: '' })).toBe('Pickup')
  expect(placeOf({ kind: 'DINE_IN', tableLabel: 'A1', receiverName: '' })).toBe('Table A1')
})

test.each([
  ['without a refund', [], ['8']],
  ['that was returned automatically', [['8', 'PAID_TWICE']], []],
  ['while the first one was returned automatically', [['7', 'REPRICED']], []],
  ['while staff have refunded the order', [['7', 'STAFF']], ['8']],
] as const)('a second payment %s', (_, returned, extra) => {
  const payments = ['7', '8', '9'].map((id) => ({ id, state: id === '9' ? 'FAILED' : 'PAID' }) as Attempt)
  const refunds = returned.map(([paymentId, reason]) => ({ paymentId, reason })) as NonNullable<Order['refunds']>
  expect(surplus({ payments, refunds }).map((a) => a.id)).toEqual(extra)
})
