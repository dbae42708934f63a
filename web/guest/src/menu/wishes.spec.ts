import { beforeEach, expect, test, vi } from 'vitest'

import { setLanguage } from '@shared/i18n'

beforeEach(async () => {
  vi.resetModules()
  localStorage.clear()
  await setLanguage('en')
})

test('the choice survives a reload, and damaged ones are none', async () => {
  const first = await import('./wishes')
  expect(first.wishes.value).toEqual({ without: [], diets: [] })
  first.setWishes({ without: ['AM'], diets: ['VEGAN'] })
  vi.resetModules()
  expect((await import('./wishes')).wishes.value).toEqual({ without: ['AM'], diets: ['VEGAN'] })
  for (const kept of ['null', '{', '[]', '{"without":"AM","diets":[1,"PALEO"]}']) {
    localStorage.setItem('comanda.wishes', kept)
    vi.resetModules()
    expect((await import('./wishes')).wishes.value, kept).toEqual({ without: [], diets: [] })
  }
})

test('what is certain comes first, and a dish that suits says so', async () => {
  const { setLanguage: set } = await import('@shared/i18n')
  await set('en')
  const { markLines, factLines } = await import('./wishes')
  expect(markLines({ contains: ['AW', 'AM'], mayContain: ['AN'], notDiets: ['VEGAN'], ask: true }).map((l) => l.text)).toEqual([
    'Contains gluten, milk', 'Allergens not listed: ask us', 'May contain nuts', 'Not marked as Vegan',
  ])
  expect(markLines({ contains: [], mayContain: [], notDiets: [], ask: false })).toEqual([{ level: 'fine', text: 'Suits your choice' }])
  expect(factLines({ contains: [], mayContain: [], known: true, diets: [] }).map((l) => l.text)).toEqual(['None of the 14 main allergens'])
  expect(factLines({ contains: ['AF'], mayContain: [], known: false, diets: [] }).map((l) => l.level)).toEqual(['contains', 'ask'])
})
