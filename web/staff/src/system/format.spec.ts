import { beforeAll, expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { statusColour, duration, replayResult } from './format'

beforeAll(() => changeLanguage('en'))

test.each([
  [0.4, '0 seconds'], [59, '59 seconds'], [60, '1 minute'], [7199, '1 hour'], [200_000, '2 days'],
])('%d s', (seconds, want) => {
  expect(duration(seconds)).toBe(want)
})

test.each([
  [{ relayed: 1, applied: 1, failed: 0, revived: 1 }, /^3 /],
  [{ relayed: 0, applied: 0, failed: 2, revived: 0 }, /failed/],
  [{ relayed: 1, applied: 0, failed: 1, revived: 0 }, /sent again.*failed/],
  [{ relayed: 0, applied: 0, failed: 0, revived: 0 }, /Nothing/],
])('%j', (replayed, want) => {
  expect(replayResult(replayed)).toMatch(want)
})

test('an unknown state is not shown as healthy', () => {
  expect(['ok', 'degraded', 'failed', 'new'].map(statusColour)).toEqual(['success', 'warning', 'error', 'error'])
})
