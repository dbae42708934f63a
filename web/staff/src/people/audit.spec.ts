import { expect, test } from 'vitest'

import { dayBounds, filled, pretty } from './audit'

test('only what is said is asked for', () => {
  expect(filled({ actor: ' user:7 ', action: ' ', subject: '' })).toEqual({ actor: 'user:7' })
})

test('the last day is meant as a whole', () => {
  const { from = '', to = '' } = dayBounds('2026-03-01', '2026-03-01')
  expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000)
  expect(new Date(from).getHours()).toBe(0)
  expect(dayBounds('', '')).toEqual({})
  expect(Object.keys(dayBounds('', '2026-03-01'))).toEqual(['to'])
})

test('nothing is shown as nothing', () => {
  expect(pretty(null)).toBe('')
  expect(pretty({ cap: 3 })).toBe('{\n  "cap": 3\n}')
})
