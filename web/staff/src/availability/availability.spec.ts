import { beforeAll, expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { figuresOf, filtered, grouped, stateOf, type ItemAvailability } from './availability'
import { endText, hits } from './useAvailability'

beforeAll(() => changeLanguage('en'))

const item = (itemId: string, more: Partial<ItemAvailability> = {}): ItemAvailability => ({
  itemId, dishId: itemId, categoryId: '1', categoryNames: { en: 'Pho' }, names: { en: `Dish ${itemId}`, vi: `Món ${itemId}` }, isActive: true,
  dailyQuota: null, cap: null, held: 0, used: 0, left: null, eightySixedUntil: null, eightySixedBy: null, ...more,
})

test.each([
  ['any number', {}, 'enough'],
  ['six', { left: 6 }, 'enough'],
  ['five', { left: 5 }, 'few'],
  ['one', { left: 1 }, 'few'],
  ['none', { left: 0 }, 'out'],
  ['taken off', { left: 0, eightySixedUntil: 'RESTORED' }, 'off'],
  ['taken off and not offered', { isActive: false, left: 0, eightySixedUntil: '2026-02-26T21:00:00Z' }, 'off'],
  ['not offered', { isActive: false }, 'inactive'],
] as const)('%s', (_, more, want) => {
  expect(stateOf(item('1', more))).toBe(want)
})

test('an item that is 86’d keeps its limit and what was sold', () => {
  const counted = { dailyQuota: 30, used: 4, held: 1 }
  expect(figuresOf(item('1', { ...counted, cap: 30, left: 25 })).map((f) => f.n)).toEqual([30, 4, 1, 25])
  expect(figuresOf(item('1', { ...counted, cap: 0, left: 0, eightySixedUntil: 'RESTORED' })).map((f) => [f.name, f.n]))
    .toEqual([['cap', 30], ['sold', 4], ['held', 1]])
  expect(figuresOf(item('1', { cap: 0, left: 0, eightySixedUntil: 'RESTORED' }))[0]?.n).toBeNull()
})

test('the list can be filtered to items that need attention', () => {
  const all = [item('1'), item('2', { left: 3 }), item('3', { left: 0 }), item('4', { left: 0, eightySixedUntil: 'RESTORED' }), item('5', { isActive: false })]
  const ids = (choice: 'all' | 'scarce' | 'off', part = '') => filtered(all, choice, part).map((i) => i.itemId).join('')
  expect(ids('all')).toBe('12345')
  expect(ids('scarce')).toBe('234')
  expect(ids('off')).toBe('4')
  expect(ids('all', ' mÓn 2')).toBe('2')
  expect(ids('off', 'dish 2')).toBe('')
})

test('items are grouped by category and keep their order', () => {
  const groups = grouped([item('2'), item('9', { categoryId: '7', categoryNames: { vi: 'Đồ uống' } }), item('1')])
  expect(groups.map((g) => [g.id, g.name, g.items.map((i) => i.itemId).join('')])).toEqual([['1', 'Pho', '21'], ['7', 'Đồ uống', '9']])
})

test.each([
  ['nobody', { holds: 0, heldUnits: 0, carts: 0 }, 'Pho is 86’d. No orders or carts are affected.'],
  ['one order', { holds: 1, heldUnits: 2, carts: 0 }, 'Pho is 86’d. 1 unpaid order still holds 2.'],
  ['orders and carts', { holds: 3, heldUnits: 4, carts: 2 }, 'Pho is 86’d. 3 unpaid orders still hold 4. It’s in 2 members’ carts.'],
])('the text after an 86 reports orders and carts: %s', (_, met, want) => {
  expect(hits('Pho', { itemId: '1', since: '', eightySixedUntil: 'RESTORED', eightySixedBy: '', ...met })).toBe(want)
})

test('the end of an 86 is shown', () => {
  expect(endText(null)).toBe('until turned back on')
  expect(endText('RESTORED')).toBe('until turned back on')
  expect(endText('2026-02-26T21:00:00Z')).toMatch(/^until .*26/)
})
