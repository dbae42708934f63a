import { expect, test } from 'vitest'

import type { Category, MenuItem } from '../api/dto'
import shared from '../../../../internal/text/testdata/search.json'
import { contains, plain, search, soldOutLast, wordsOf } from './search'

const item = (itemId: string, name: string, description = ''): MenuItem => ({
  itemId, dishId: itemId, name, description, imageUrl: null, price: 1, isActive: true, isSoldOut: false, remaining: null,
})
const menu: Category[] = [
  { id: '1', name: 'Phở', items: [item('1', 'Phở bò', 'bánh phở mềm'), item('2', 'Phở gà')] },
  { id: '2', name: '小吃', items: [item('3', '小籠包', '豬肉'), item('4', 'Đậu hũ')] },
]

test.each([
  ['', '1234'],
  ['pho', '12'],
  ['PHỞ gà', '2'],
  ['dau hu', '4'],
  ['小籠', '3'],
  ['mem bo', '1'],
  ['pizza', ''],
])('%j finds %s', (words, want) => {
  expect(search(menu, words).flatMap((c) => c.items).map((i) => i.itemId).join('')).toBe(want)
})

test.each([
  ['beef', '1'],
  ['牛肉', '1'],
  ['bo beef', '1'], // words of two languages
  ['pho', '12'],
  ['chicken', ''],
])('%j finds %s in texts of other languages too', (words, want) => {
  const others = new Map([['1', 'beef pho 牛肉河粉']])
  expect(search(menu, words, others).flatMap((c) => c.items).map((i) => i.itemId).join('')).toBe(want)
})

// The server passes the same cases (internal/text), so that both find the same dishes.
test.each(Object.entries(shared.folds))('%j is folded to %j', (text, want) => {
  expect(plain(text)).toBe(want)
})

test.each(shared.matches)('$query in $text: $found', ({ query, text, found }) => {
  expect(contains(plain(text), wordsOf(query))).toBe(found)
})

test('sold-out dishes come last in their category', () => {
  const [first = { id: '', name: '', items: [] }, second = first] = menu
  const soldOut = { ...first, items: first.items.map((i) => ({ ...i, isSoldOut: i.itemId === '1' })) }
  const inactive = { ...second, items: second.items.map((i) => ({ ...i, isActive: i.itemId !== '3' })) }
  expect(soldOutLast([soldOut, inactive]).map((c) => c.items.map((i) => i.itemId).join(''))).toEqual(['21', '43'])
})
