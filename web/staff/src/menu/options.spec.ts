import { expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import type { Line } from './menuEditor'
import { problemText, putOf, rowKey, ruleText, usesOf, withAdded, withGroup, type VersionGroup } from './options'

const group = (groupId: string, optionIds: string[], change: Partial<VersionGroup> = {}): VersionGroup => ({
  groupId, kind: 'CHOICE', names: { en: `group ${groupId}` }, sort: 1, min: 0, max: null, free: 0, maxEach: 1, credit: false, defaultsCharge: true,
  parentOptionId: null, options: optionIds.map((optionId, n) => ({ optionId, names: {}, price: 5, sort: n, isDefault: false, isActive: true })), ...change,
})
const line = (itemId: string, ...groups: VersionGroup[]): Line => ({
  itemId, dishId: itemId, names: { en: `dish ${itemId}` }, descriptions: {}, imageUrl: null, categoryId: '1', categoryNames: {}, price: 30,
  dailyQuota: null, isActive: true, sort: 1, groups,
} as unknown as Line)

test('a group is listed once, with all its dishes and their options', () => {
  const below = group('2', ['7'], { parentOptionId: '3' })
  const uses = usesOf([line('1', group('1', ['3', '4'])), line('2', group('1', ['3', '5']), below)])
  expect(uses.map((u) => [u.group.groupId, u.rows.length, u.options.map((o) => o.optionId).sort()]), 'groups').toEqual([['1', 2, ['3', '4', '5']], ['2', 1, ['7']]])
  expect(uses.flatMap((u) => u.rows).map(rowKey), 'keys of the rows').toEqual(['1 1 ', '2 1 ', '2 2 3'])
})

test('a changed group keeps the others, and a removed one takes those below it along', () => {
  const [top, below, other] = [group('1', ['3']), group('2', ['7'], { parentOptionId: '3' }), group('4', ['9'])]
  const dish = line('1', top, below, other)
  expect(withGroup(dish, top, { ...putOf(top), min: 1 }).map((g) => [g.groupId, g.min]), 'after a change').toEqual([['1', 1], ['2', 0], ['4', 0]])
  expect(withGroup(dish, top, undefined).map((g) => g.groupId), 'after the removal of the upper group').toEqual(['4'])
  expect(withGroup(dish, below, undefined).map((g) => g.groupId), 'after the removal of the lower group').toEqual(['1', '4'])
  expect(withAdded(dish, { ...putOf(below), min: 1 }).map((g) => [g.groupId, g.min]), 'after adding').toEqual([['1', 0], ['4', 0], ['2', 1]])
  expect(putOf(below), 'request').toEqual({
    groupId: '2', parentOptionId: '3', min: 0, max: null, free: 0, maxEach: 1, credit: false, defaultsCharge: true,
    options: [{ optionId: '7', price: 5, isDefault: false, isActive: true }],
  })
})

test.each([
  [1, 1, 0, 'choose 1'], [0, 3, 0, 'up to 3'], [0, null, 1, 'optional, first one free'], [2, null, 0, 'choose at least 2'], [1, 3, 2, 'choose 1 to 3, first 2 free'],
] as const)('at least %j, at most %j, %j free: %s', async (min, max, free, want) => {
  await changeLanguage('en')
  expect(ruleText({ min, max, free }), 'rule').toBe(want)
})

test('a problem of a newer server has a text too', async () => {
  await changeLanguage('en')
  expect([problemText('min_above_active', 'Size'), problemText('something', 'Size')], 'texts').toEqual(['“Size” asks for more than it offers.', '“Size” isn’t complete.'])
})
