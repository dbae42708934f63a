import { beforeAll, expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { statusColour, duration, emailProgress, emailTitle, longestSets, memoryText, replayResult, size } from './format'

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

test.each([
  ['order_paid', 'Receipt'], ['verify', 'Code for the e-mail address'], ['password_reset', 'Password reset'],
  ['of_a_newer_server', 'of_a_newer_server'],
])('the e-mail %s is called %s', (template, want) => {
  expect(emailTitle({ template })).toBe(want)
})

test('only an e-mail that waits is tried again', () => {
  const dueAt = '2026-02-26T05:00:00Z'
  expect(emailProgress({ state: 'FAILED', attempts: 1, dueAt })).toBe('1 attempt')
  expect(emailProgress({ state: 'WAITING', attempts: 2, dueAt })).toMatch(/^2 attempts · next attempt .+/)
  expect(emailProgress({ state: 'WAITING', attempts: 0, dueAt })).toMatch(/^next attempt .+/)
})

test.each([
  [0, '0 byte'], [999, '999 byte'], [1500, '1.5 kB'], [12_345_678, '12.3 MB'], [3e9, '3 GB'],
])('%d bytes', (bytes, want) => {
  expect(size(bytes)).toBe(want)
})

test('the memory of a server is shown with its limit, and evictions are not hidden', () => {
  expect(memoryText({ usedBytes: 93e6, limitBytes: 100e6, evictedKeys: 0 })).toBe('93 MB of 100 MB (93%) · 0 keys evicted')
  expect(memoryText({ usedBytes: 93e6, limitBytes: 0, evictedKeys: 1 })).toBe('93 MB, no limit · 1 key evicted')
})

test('the longest sets come from all kinds of keys, without strings', () => {
  const key = (key: string, type: string, length: number) => ({ key, type, length, bytes: 0 })
  expect(longestSets([
    { longest: [key('user:1', 'string', 900)] }, { longest: [key('user:list', 'set', 7), key('b', 'set', 2)] }, { longest: [key('q:cap', 'hash', 5)] },
  ]).map((k) => k.key)).toEqual(['user:list', 'q:cap', 'b'])
})
