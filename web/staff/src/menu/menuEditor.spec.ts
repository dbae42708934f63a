import { beforeAll, expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { differences, partsOf, type Line } from './menuEditor'

beforeAll(() => changeLanguage('en'))

const line = (itemId: string, more: Partial<Line> = {}): Line => ({
  itemId, dishId: itemId, categoryId: '1', categoryNames: { en: 'Pho' }, names: { en: `Dish ${itemId}` }, imageUrl: null, price: 100,
  dailyQuota: null, isActive: true, groups: [], sort: Number(itemId), ...more,
})
const told = (before: Line[], after: Line[]) => differences(before, after).map((d) => `${d.kind} ${d.line.itemId}`)

test.each([
  ['nothing', [line('1')], [line('1')], []],
  ['everything is new at first', [], [line('2'), line('1')], ['added 1', 'added 2']],
  ['a dish comes and one goes', [line('1')], [line('2')], ['added 2', 'removed 1']],
  ['a price', [line('1')], [line('1', { price: 120 })], ['price 1']],
  ['several things of one dish', [line('1')], [line('1', { price: 120, isActive: false, dailyQuota: 0, sort: 9 })], ['hidden 1', 'price 1', 'quota 1', 'place 1']],
  ['a dish is back', [line('1', { isActive: false })], [line('1')], ['shown 1']],
  ['no quota is not a quota of none', [line('1', { dailyQuota: 0 })], [line('1')], ['quota 1']],
])('%s', (_, before, after, want) => {
  expect(told(before, after)).toEqual(want)
})

test('a change shows the previous value', () => {
  expect(differences([line('1', { dailyQuota: 5 })], [line('1', { price: 7 })])).toMatchObject([
    { kind: 'price', before: 100, line: { price: 7 } }, { kind: 'quota', before: 5, line: { dailyQuota: null } },
  ])
})

test('lines are grouped by category and keep their order', () => {
  const parts = partsOf([line('3'), line('1', { categoryId: '2', categoryNames: { en: 'Drinks' } }), line('2')])
  expect(parts.map((p) => [p.categoryId, p.names.en, p.lines.map((l) => l.itemId)])).toEqual([
    ['1', 'Pho', ['3', '2']], ['2', 'Drinks', ['1']],
  ])
})
