import { expect, test } from 'vitest'

import type { Category, MenuItem } from '../api/dto'
import { search } from './search'

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
