import { expect, test } from 'vitest'

import { filteredOptions, type Filter, type OptionAvailability } from './availability'

const option = (optionId: string, en: string, isAvailable: boolean, eightySixedUntil: string | null = null): OptionAvailability => ({
  optionId, groupId: '1', names: { en }, groupNames: { en: 'Toppings' }, isAvailable, eightySixedUntil, eightySixedBy: null,
})
const all = [option('1', 'Pearls', true), option('2', 'Pudding', false, 'RESTORED'), option('3', 'Jelly', false)]

test.each<[Filter, string, string]>([
  ['all', '', '123'], ['off', '', '2'], ['scarce', '', '23'], ['all', 'pea', '1'], ['all', 'topp', '123'], ['all', 'tea', ''],
])('filter %s with %j shows the options %j', (choice, part, want) => {
  expect(filteredOptions(all, choice, part).map((o) => o.optionId).join(''), 'options').toBe(want)
})
