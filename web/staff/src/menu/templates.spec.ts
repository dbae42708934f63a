import { expect, test } from 'vitest'

import { byCategory } from './templates'

test('dishes are grouped by category, in the order of the template', () => {
  const dish = (category: string, name: string) => ({ category: { en: category }, name: { en: name }, description: {}, price: 1 })
  const all = byCategory([dish('Pho', 'Beef'), dish('Drinks', 'Tea'), dish('Pho', 'Chicken')])
  expect(all.map((c) => [c.name.en, ...c.dishes.map((d) => d.name.en)])).toEqual([['Pho', 'Beef', 'Chicken'], ['Drinks', 'Tea']])
})
