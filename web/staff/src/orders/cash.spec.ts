import { expect, test } from 'vitest'

import { changeOf, likelyAmounts, minorUnits } from './cash'
import { checkable, canRecordResult, paidInCash, payable, refundable, settleable, surplus, type Order } from './order'

test.each([
  [65_000, 'VND', [65_000, 70_000, 80_000, 100_000]],
  [100_000, 'VND', [100_000, 200_000, 500_000]],
  [440, 'TWD', [440, 500, 1000]],
  [1250, 'USD', [1250, 1500, 2000, 5000]],
])('%d %s is probably paid with %j', (total, currency, want) => {
  expect(likelyAmounts(total, currency)).toEqual(want)
})

test.each([
  [65_000, 100_000, 35_000], [65_000, 65_000, 0], [65_000, 64_999, undefined], [65_000, undefined, undefined],
  [65_000, Number.NaN, undefined], [65_000, 1e300, undefined],
])('for a total of %d, %d needs a change of %d', (total, given, want) => {
  expect(changeOf(total, given)).toBe(want)
})

test.each([
  ['130.000', 'VND', 130_000], ['130,000', 'VND', 130_000], ['1.300.000', 'VND', 1_300_000], ['130000', 'VND', 130_000],
  ['130.5', 'VND', undefined], ['12.50', 'USD', 1250], ['12,5', 'USD', 1250], ['12', 'USD', 1200], ['1.234', 'USD', undefined],
  ['', 'VND', undefined], ['-5', 'VND', undefined], ['1e9', 'VND', undefined], ['0x10', 'USD', undefined], ['abc', 'TWD', undefined],
  ['19.99', 'USD', 1999],
] as const)('%j of %s is %d', (typed, currency, want) => {
  expect(minorUnits(typed, currency)).toBe(want)
})

const order = (change: Partial<Order>) => ({ status: 'PLACED', paymentStatus: 'UNPAID', totalPrice: 100, refunded: 0, payments: [], ...change }) as Order

test('the actions on an order depend on its state', () => {
  expect(payable(order({}))).toBe(true)
  expect(payable(order({ paymentStatus: 'CONFIRMING' }))).toBe(false)
  expect(payable(order({ status: 'CANCELED' }))).toBe(false)
  expect(refundable(order({}))).toBe(0)
  expect(refundable(order({ paymentStatus: 'PAID', refunded: 30 }))).toBe(70)
})

test('the actions on a payment depend on its state', () => {
  expect(checkable({ state: 'UNKNOWN', method: 'VNPAY' })).toBe(true)
  expect(checkable({ state: 'PAID', method: 'VNPAY' })).toBe(false)
  expect(checkable({ state: 'UNKNOWN', method: 'COUNTER' })).toBe(false)
  expect(canRecordResult({ state: 'REVIEW', method: 'VNPAY' })).toBe(true)
  expect(canRecordResult({ state: 'CONFIRMING', method: 'LINEPAY' })).toBe(true)
  expect(canRecordResult({ state: 'REDIRECTED', method: 'VNPAY' })).toBe(false)
  const paid = { state: 'PAID' } as Order['payments'][number]
  expect(surplus(order({ payments: [paid, { ...paid, state: 'FAILED' }, paid] }))).toHaveLength(1)
  const [old, other] = [{ ...paid, id: 'old' }, { ...paid, id: 'other' }]
  const refunds = [{ paymentId: 'old', reason: 'REPRICED' }] as NonNullable<Order['refunds']>
  expect(surplus(order({ payments: [old, other], refunds }))).toEqual([])
  expect(surplus(order({ payments: [old, other, { ...paid, id: 'twice' }], refunds }))).toHaveLength(1)
})

test.each([
  ['COUNTER', 'PAID', true], ['COUNTER', 'CREATED', false], ['VNPAY', 'PAID', false],
])('%s that is %s was paid in cash: %j', (method, state, want) => {
  expect(paidInCash({ payments: [{ method: 'VNPAY', state: 'FAILED' }, { method, state }] } as Order)).toBe(want)
})

test.each([
  ['DUE', true], ['REFUSED', true], ['UNKNOWN', true], ['SENDING', false], ['DONE', false],
])('staff decide about a refund that is %s: %j', (state, want) => {
  expect(settleable({ state })).toBe(want)
})
