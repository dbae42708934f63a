import { expect, test } from 'vitest'

import { parsePrice } from './prices'

interface Case {
  currency: string
  typed: string
  amount?: number
  problem?: string
}

const [table = ''] = Object.values(
  import.meta.glob<string>('../../../../internal/menufile/testdata/prices.json', { eager: true, query: '?raw', import: 'default' }))

test.each(JSON.parse(table) as Case[])('$currency $typed is parsed like an import', ({ currency, typed, amount, problem }) => {
  expect(parsePrice(typed, currency)).toBe(problem ?? amount)
})

test.each(['', '  ', '\u00a0'])('%j is an empty price', (typed) => {
  expect(parsePrice(typed, 'VND')).toBe('price_missing')
})
