import { expect, test } from 'vitest'

import { minorUnits } from '../orders/cash'
import { typedAmount, whole, withLine } from './figures'

test.each([
  ['12', 12], [' 0 ', 0], ['', null], ['  ', null], ['100', 100], ['101', undefined], ['-1', undefined], ['1.5', undefined], ['1e2', undefined],
  ['9999999999999', undefined], ['many', undefined],
])('%j is %s', (typed, want) => {
  expect(whole(typed, 100)).toBe(want)
})

test.each([[65_000, 'VND', '65000'], [1250, 'USD', '12.50'], [0, 'TWD', '0']])('%d %s is typed as %s', (amount, currency, want) => {
  expect(typedAmount(amount, currency)).toBe(want)
  expect(minorUnits(want, currency)).toBe(amount)
})

test('a line that arrives late fills the empty fields only, so that its quota is not removed', () => {
  const line = { price: 65_000, dailyQuota: 20 }
  expect(withLine({ price: '', quota: '' }, line, 'VND')).toEqual({ price: '65000', quota: '20' })
  expect(withLine({ price: '70k', quota: '' }, line, 'VND')).toEqual({ price: '70k', quota: '20' })
  expect(withLine({ price: '', quota: '5' }, line, 'VND')).toEqual({ price: '65000', quota: '5' })
  expect(withLine({ price: '', quota: '' }, { ...line, dailyQuota: null }, 'VND')).toEqual({ price: '65000', quota: '' })
})
