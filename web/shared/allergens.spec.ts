import { expect, test } from 'vitest'

import { marksOf, suits, suitsDiet, sumOf, together, wished, type Allergen, type Declared, type Diet } from './allergens'
import type { Choice, Option, OptionGroup } from './options'

const has = (contains: Allergen[], mayContain: Allergen[] = [], diets: Diet[] = []): Declared => ({ allergens: { contains, mayContain }, diets })
const unknown: Declared = { allergens: null, diets: [] }
const option = (id: string, declared: Declared, groups?: OptionGroup[]): Option => ({
  id, name: id, price: 0, isDefault: false, isAvailable: true, ...declared, ...(groups ? { groups } : {}),
})
const group = (kind: OptionGroup['kind'], ...options: Option[]): OptionGroup => ({
  id: 'g', kind, name: 'g', min: 0, max: null, free: 0, maxEach: 1, credit: false, defaultsCharge: true, options,
})
const choose = (optionId: string, options?: Choice[]): Choice => ({ optionId, qty: 1, name: optionId, price: 0, ...(options ? { options } : {}) })

test('a sum has what its parts contain, in the order of the law, and is unknown if one part is', () => {
  expect(sumOf([has(['AM', 'AW'], ['AN']), has(['AE'], ['AM'])])).toEqual({ contains: ['AW', 'AE', 'AM'], mayContain: ['AN'], known: true, diets: [] })
  expect(sumOf([has(['AM']), unknown])).toMatchObject({ contains: ['AM'], known: false })
  expect(sumOf([has([])]).known).toBe(true)
  expect(sumOf([{}]), 'a menu that an older app has stored').toMatchObject({ contains: [], known: false })
})

test('a diet holds if all parts promise it', () => {
  expect(sumOf([has([], [], ['VEGAN', 'HALAL']), has([], [], ['VEGETARIAN', 'HALAL'])]).diets).toEqual(['VEGETARIAN', 'HALAL'])
  expect(suitsDiet(['VEGAN'], 'VEGETARIAN')).toBe(true)
  expect(suitsDiet(['VEGETARIAN'], 'VEGAN')).toBe(false)
  expect(suitsDiet(undefined, 'HALAL')).toBe(false)
})

test('chosen options count with their own options, others do not', () => {
  const dish = { ...has(['AM'], [], ['VEGETARIAN']), groups: [group('CHOICE', option('1', has(['AE'], [], ['VEGETARIAN']), [group('CHOICE', option('2', unknown))]), option('3', has(['AF'])))] }
  expect(together(dish, [])).toEqual({ contains: ['AM'], mayContain: [], known: true, diets: ['VEGETARIAN'] })
  expect(together(dish, [choose('1')])).toMatchObject({ contains: ['AE', 'AM'], known: true, diets: ['VEGETARIAN'] })
  expect(together(dish, [choose('1', [choose('2')])])).toMatchObject({ contains: ['AE', 'AM'], known: false, diets: [] })
  expect(together(dish, [choose('gone')]).known).toBe(true)
})

test('a combo is what is chosen, and what it has in any case', () => {
  const parts = [group('COMBO', option('1', has(['AF'])), option('2', has(['AM'], [], ['VEGETARIAN'])))]
  const combo = { ...has(['AF', 'AM']), groups: parts }
  expect(together(combo, [choose('2')])).toEqual({ contains: ['AM'], mayContain: [], known: true, diets: ['VEGETARIAN'] })
  expect(together({ ...combo, ownAllergens: { contains: ['AW'], mayContain: [] } }, [choose('2')])).toEqual(
    { contains: ['AW', 'AM'], mayContain: [], known: true, diets: [] })
})

test.each([
  ['contains', has(['AM']), { contains: ['AM'] }, false],
  ['may contain', has([], ['AM']), { mayContain: ['AM'] }, false],
  ['is not declared', unknown, { ask: true }, false],
  ['has others', has(['AE'], ['AN']), {}, true],
  ['has none', has([]), {}, true],
] as const)('a dish that %s', (_, dish, want, fine) => {
  const marks = marksOf(sumOf([dish]), { without: ['AM'], diets: [] })
  expect(marks).toEqual({ contains: [], mayContain: [], notDiets: [], ask: false, ...want })
  expect(suits(marks)).toBe(fine)
})

test('an unknown part is a question only for allergens that are not found yet', () => {
  const sum = sumOf([has(['AM']), unknown])
  expect(marksOf(sum, { without: ['AM'], diets: [] })).toMatchObject({ contains: ['AM'], ask: false })
  expect(marksOf(sum, { without: ['AM', 'AE'], diets: [] })).toMatchObject({ contains: ['AM'], ask: true })
  expect(marksOf(sum, { without: [], diets: ['VEGAN'] })).toMatchObject({ ask: false, notDiets: ['VEGAN'] })
})

test('wishes', () => {
  expect(wished({ without: [], diets: [] })).toBe(false)
  expect(wished({ without: [], diets: ['HALAL'] })).toBe(true)
})
