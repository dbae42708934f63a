import { expect, test } from 'vitest'

import {
  canonical, choiceProblem, choicesKey, choicesText, countOf, defaultsOf, lacksOptions, lowestPrice, missingGroup, needsChoice, offered,
  renamed, unitPrice, wired, type Choice, type Option, type OptionGroup, type Optional,
} from './options'

const option = (id: string, price: number, change: Partial<Option> = {}): Option => ({
  id, name: `option ${id}`, price, isDefault: false, isAvailable: true, ...change,
})
const group = (id: string, options: Option[], change: Partial<OptionGroup> = {}): OptionGroup => ({
  id, kind: 'CHOICE', name: `group ${id}`, min: 0, max: null, free: 0, maxEach: 1, credit: false, defaultsCharge: true, options, ...change,
})
const pick = (optionId: string, qty = 1, options?: Choice[]): Choice => ({
  optionId, qty, name: `option ${optionId}`, price: 0, ...(options ? { options } : {}),
})

// The examples that Toast and Square publish, in whole units.
const cheese = option('1', 1, { isDefault: true })
const burger = (change: Partial<OptionGroup>): Optional => ({ price: 8, groups: [group('1', [cheese, option('2', 3)], change)] })
const salad: Optional = { price: 10, groups: [group('1', [option('1', 7, { isDefault: true }), option('2', 9)], { credit: true })] }
const caesar: Optional = { price: 12, groups: [group('1', [option('1', 1), option('2', 1), option('3', 2)])] }
const tea: Optional = {
  price: 30,
  groups: [
    group('1', [option('1', 35), option('2', 45)], { kind: 'SIZE', min: 1, max: 1 }),
    group('2', [option('3', 5), option('4', 5)], { max: 3, free: 1, maxEach: 2 }),
    group('3', [option('5', 10, { groups: [group('4', [option('6', 2), option('7', 3)], { min: 1, max: 1 })] })], { maxEach: 3 }),
  ],
}

test.each<[string, Optional, Choice[], number]>([
  ['burger whose default cheese does not charge', burger({ defaultsCharge: false }), [pick('1')], 8],
  ['burger whose default cheese charges', burger({}), [pick('1')], 9],
  ['burger without its cheese', burger({}), [], 8],
  ['burger without its cheese that does not charge', burger({ defaultsCharge: false }), [], 8],
  ['burger with bacon instead of cheese', burger({ defaultsCharge: false }), [pick('2')], 11],
  ['salad with salmon instead of chicken', salad, [pick('2')], 12],
  ['salad with its chicken', salad, [pick('1')], 10],
  ['salad without its chicken', salad, [], 10],
  ['Caesar salad with avocado and tofu', caesar, [pick('1'), pick('2')], 14],
  ['Greek salad with an extra', { ...caesar, price: 10 }, [pick('3')], 12],
  ['dish without groups', { price: 7 }, [], 7],
  ['size replaces the price', tea, [pick('2')], 45],
  ['no size yet', tea, [], 30],
  ['first topping is free', tea, [pick('1'), pick('3')], 35],
  ['second topping is not', tea, [pick('1'), pick('3'), pick('4')], 40],
  ['two units of one topping', tea, [pick('1'), pick('3', 2)], 40],
  ['second level adds per unit', tea, [pick('1'), pick('5', 2, [pick('7')])], 61],
  ['unknown options cost nothing', tea, [pick('1'), pick('99')], 35],
  ['second unit of a default charges', burger({ defaultsCharge: false, maxEach: 2 }), [pick('1', 2)], 9],
])('price of a %s', (_, dish, choices, want) => {
  expect(unitPrice(dish, choices), 'unit price').toBe(want)
})

test.each<[string, Choice[], string | undefined]>([
  ['nothing chosen', [], '-1'],
  ['a size', [pick('1')], undefined],
  ['two sizes', [pick('1'), pick('2')], '-1'],
  ['three toppings of at most three', [pick('1'), pick('3', 2), pick('4')], undefined],
  ['four toppings', [pick('1'), pick('3', 2), pick('4', 2)], '-2'],
  ['too many of one topping', [pick('1'), pick('3', 3)], '-2'],
  ['second level is missing', [pick('1'), pick('5')], '-3-5-4'],
  ['second level is complete', [pick('1'), pick('5', 1, [pick('6')])], undefined],
])('first group that is missing: %s', (_, choices, want) => {
  expect(missingGroup(tea.groups, choices)?.path, 'path of the group').toBe(want)
})

test('defaults are chosen beforehand unless they are sold out, with those of the second level', () => {
  const below = group('2', [option('3', 0, { isDefault: true })])
  const groups = [group('1', [option('1', 0, { isDefault: true, isAvailable: false }), option('2', 0, { isDefault: true, groups: [below] })])]
  expect(wired(defaultsOf(groups)), 'defaults').toEqual([{ optionId: '2', qty: 1, options: [{ optionId: '3', qty: 1 }] }])
})

test('equal wishes are equal, whatever the order in which they were made', () => {
  const wish = [pick('10'), pick('4'), pick('5', 1, [pick('6')]), pick('3'), pick('1'), pick('3')]
  expect(wired(canonical(tea.groups, wish)), 'canonical form').toEqual([
    { optionId: '1', qty: 1 }, { optionId: '3', qty: 2 }, { optionId: '4', qty: 1 },
    { optionId: '5', qty: 1, options: [{ optionId: '6', qty: 1 }] }, { optionId: '10', qty: 1 },
  ])
  expect(choicesKey(canonical(tea.groups, [...wish].reverse())), 'key of the reversed wish').toBe(choicesKey(canonical(tea.groups, wish)))
  expect(choicesKey([pick('5', 1, [pick('6')])]), 'key with another second level').not.toBe(choicesKey([pick('5', 1, [pick('7')])]))
  expect(choicesKey([]), 'key of nothing').toBe('')
})

test.each<[string, Optional, Choice[], unknown]>([
  ['fits', tea, [pick('1')], undefined],
  ['an option is gone', tea, [pick('1'), pick('99')], { code: 'gone', names: ['option 99'] }],
  ['an option below is gone', tea, [pick('1'), pick('5', 1, [pick('98')])], { code: 'gone', names: ['option 98'] }],
  ['a group needs more', tea, [], { code: 'changed', names: ['group 1'] }],
  [
    'an option is sold out', { price: 1, groups: [group('1', [option('1', 0, { isAvailable: false })])] }, [pick('1')],
    { code: 'soldOut', names: ['option 1'] },
  ],
  ['a dish has lost its options', { price: 1 }, [pick('1')], { code: 'gone', names: ['option 1'] }],
])('a line whose choice %s', (_, dish, choices, want) => {
  expect(choiceProblem(dish, choices), 'problem').toEqual(want)
})

test('what a menu no longer offers is left out of a choice that is made again', () => {
  const groups = [group('1', [option('1', 5, { name: 'new' }), option('2', 5, { isAvailable: false })], { max: 2, maxEach: 2 })]
  expect(offered(groups, [pick('1', 9), pick('2'), pick('3')]), 'offered').toEqual([{ optionId: '1', qty: 2, name: 'new', price: 5 }])
  expect(renamed(groups, [pick('1'), pick('3')]).map((c) => [c.name, c.price]), 'names').toEqual([['new', 5], ['option 3', 0]])
})

test('a card shows the lowest price of a dish', () => {
  expect(lowestPrice(tea), 'sizes of two prices').toEqual({ price: 35, varies: true })
  expect(lowestPrice(caesar), 'optional groups').toEqual({ price: 12, varies: false })
  expect([needsChoice(tea), needsChoice(caesar), needsChoice({ price: 1 })], 'needs a choice').toEqual([true, false, false])
})

test('a dish lacks options when a required group is sold out', () => {
  const soldOut = (isAvailable: boolean) => ({ price: 1, groups: [group('1', [option('1', 0, { isAvailable }), option('2', 0, { isAvailable: false })], { min: 1 })] })
  expect([lacksOptions(soldOut(false)), lacksOptions(soldOut(true)), lacksOptions({ price: 1 })], 'lacks').toEqual([true, false, false])
})

test('choices are shown as one text', () => {
  expect(choicesText([pick('1'), pick('5', 2, [pick('6')])]), 'text').toBe('option 1 · 2 × option 5 (option 6)')
  expect(countOf(group('1', [option('1', 0)]), [pick('1', 2), pick('9')]), 'count').toBe(2)
})
