import { expect, test } from 'vitest'

import { changedDeclaration, conflictOf, declarationOf, edited, type Declaration } from './allergens'

const form = (change: Partial<Declaration> = {}): Declaration => ({ declared: false, contains: [], mayContain: [], diets: [], ...change })

test('the three states are read apart', () => {
  expect(declarationOf(undefined)).toEqual(form())
  expect(declarationOf({ allergens: null, diets: [] })).toEqual(form())
  expect(declarationOf({ allergens: { contains: [], mayContain: [] }, diets: [] })).toEqual(form({ declared: true }))
  expect(declarationOf({ allergens: { contains: ['AM'], mayContain: ['AN'] }, diets: ['HALAL'] })).toEqual(
    form({ declared: true, contains: ['AM'], mayContain: ['AN'], diets: ['HALAL'] }))
})

test('only what was changed is sent', () => {
  const before = form({ declared: true, contains: ['AM'] })
  expect(changedDeclaration(before, before)).toEqual({})
  expect(changedDeclaration(before, { ...before, diets: ['HALAL'] })).toEqual({ diets: ['HALAL'] })
  expect(changedDeclaration(before, form())).toEqual({ allergens: { declared: false, contains: [], mayContain: [] } })
  expect(changedDeclaration(form(), form({ declared: true }))).toEqual({ allergens: { declared: true, contains: [], mayContain: [] } })
})

test('an edit keeps a declaration in order', () => {
  expect(edited(form(), { contains: ['AM', 'AW'] })).toEqual(form({ declared: true, contains: ['AW', 'AM'] }))
  expect(edited(form({ declared: true, mayContain: ['AM', 'AN'] }), { contains: ['AM'] })).toEqual(form({ declared: true, contains: ['AM'], mayContain: ['AN'] }))
  expect(edited(form({ declared: true, contains: ['AM'], diets: ['HALAL'] }), { declared: false })).toEqual(form({ diets: ['HALAL'] }))
  expect(edited(form({ declared: true, contains: ['AM'] }), { contains: [] }), 'none of the 14').toEqual(form({ declared: true }))
  expect(edited(form(), { diets: ['VEGAN'] }).diets).toEqual(['VEGETARIAN', 'VEGAN'])
})

test.each([
  ['VEGAN', 'AM', true], ['VEGAN', 'AN', false], ['VEGETARIAN', 'AM', false], ['VEGETARIAN', 'AF', true], ['KOSHER', 'AC', true], ['HALAL', 'AC', false],
] as const)('%s with %s is refused: %s', (diet, allergen, refused) => {
  expect(Boolean(conflictOf(form({ declared: true, contains: [allergen], diets: [diet] })))).toBe(refused)
  expect(conflictOf(form({ declared: true, mayContain: [allergen], diets: [diet] })), 'traces').toBeUndefined()
})
