import { expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { after, quantity, standing, validSKU, type StockItem } from './level'

test.each([
  ['RECEIVE', 5, 15], ['RECEIVE', 0, undefined], ['RECEIVE', 999_999_990, 1_000_000_000], ['RECEIVE', 999_999_991, undefined],
  ['COUNT', 0, 0], ['COUNT', 7, 7], ['WASTE', 4, 6], ['WASTE', 10, 0], ['WASTE', 11, undefined], ['WASTE', 0, undefined],
  ['COUNT', null, undefined], ['RECEIVE', undefined, undefined],
] as const)('ten units after %s of %s', (kind, units, want) => {
  expect(after(10, kind, units)).toBe(want)
})

const item = (available: number, lowAt: number | null): StockItem => ({
  id: '1', itemId: 'beef', branchId: '1', name: '', unit: 'kg', lowAt, available, reserved: 0, sold: 0,
  isLow: lowAt !== null && available <= lowAt,
})

test.each([
  [0, null, 'out'], [0, 5, 'out'], [5, 5, 'low'], [6, 5, 'enough'], [1, null, 'enough'],
])('%d with the alarm level %s', (available, lowAt, want) => {
  expect(standing(item(available, lowAt))).toBe(want)
})

test.each([
  ['beef-01', true], ['A.b_c', true], ['', false], ['bò', false], ['a b', false], ['x'.repeat(64), true], ['x'.repeat(65), false],
])('%j is a valid SKU: %s', (id, want) => {
  expect(validSKU(id)).toBe(want)
})

test('a quantity of pieces is shown without a unit', () => {
  expect(quantity(3, '')).toBe('3')
  expect(quantity(3, 'kg')).toBe('3 kg')
})

test('thousands of a quantity are separated as in the language', async () => {
  expect(quantity(24_000, 'g')).toBe('24,000 g')
  await changeLanguage('vi')
  expect(quantity(24_000, 'g')).toBe('24.000 g')
  await changeLanguage('en')
})
