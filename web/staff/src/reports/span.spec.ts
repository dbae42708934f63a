import { expect, test } from 'vitest'

import { dates, days, periods, shift, spanOf } from './span'

test.each([
  ['today', '2026-03-01', '2026-03-01', 1],
  ['yesterday', '2026-02-28', '2026-02-28', 1],
  ['week', '2026-02-23', '2026-03-01', 7],
  ['month', '2026-01-31', '2026-03-01', 30],
  ['quarter', '2025-12-02', '2026-03-01', 90],
] as const)('%s', (period, from, to, n) => {
  const s = spanOf(period, '2026-03-01')
  expect(s).toEqual({ from, to })
  expect(days(s)).toBe(n)
  expect(dates(s)).toHaveLength(n)
  expect(dates(s)[0]).toBe(from)
  expect(dates(s).at(-1)).toBe(to)
})

test('the API accepts every period', () => {
  for (const p of periods) expect(days(spanOf(p, '2026-11-21'))).toBeDefined()
})

test.each([
  ['2026-01-02', '2026-01-01'], ['', '2026-01-01'], ['2026-01-01', ''], ['2025-01-01', '2026-01-02'],
])('%s to %s is no span', (from, to) => {
  expect(days({ from, to })).toBeUndefined()
  expect(dates({ from, to })).toEqual([])
})

test('a leap year is the longest span', () => {
  expect(days({ from: '2024-01-01', to: '2024-12-31' })).toBe(366)
  expect(shift('2024-02-28', 1)).toBe('2024-02-29')
})
