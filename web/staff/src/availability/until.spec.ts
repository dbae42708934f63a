import { expect, test } from 'vitest'

import { clockIn, nextAt, untilOf } from './until'

const now = Date.parse('2026-02-26T05:00:30Z') // 12:00:30 in Hà Nội, 13:00:30 in Taipei

test.each([
  ['18:30', 'Asia/Ho_Chi_Minh', '2026-02-26T11:30:00.000Z'],
  ['12:00', 'Asia/Ho_Chi_Minh', '2026-02-27T05:00:00.000Z'], // passed half a minute ago
  ['12:01', 'Asia/Ho_Chi_Minh', '2026-02-26T05:01:00.000Z'],
  ['00:15', 'Asia/Taipei', '2026-02-26T16:15:00.000Z'],
  ['00:15', 'UTC', '2026-02-27T00:15:00.000Z'],
  ['23:30', 'America/New_York', '2026-02-27T04:30:00.000Z'], // it is just after midnight there
])('%s in %s is next at %s', (time, zone, want) => {
  expect(nextAt(time, zone, now)?.toISOString()).toBe(want)
})

test.each(['', '24:00', '7:30', '12:60', 'soon'])('%j is no time', (time) => {
  expect(nextAt(time, 'UTC', now)).toBeUndefined()
})

test('changes of daylight-saving time are handled', () => {
  const before = Date.parse('2026-03-28T22:00:00Z') // the night in which Berlin goes from 2:00 to 3:00
  expect(nextAt('08:00', 'Europe/Berlin', before)?.toISOString()).toBe('2026-03-29T06:00:00.000Z')
  expect(nextAt('22:30', 'Europe/Berlin', before)?.toISOString()).toBe('2026-03-29T20:30:00.000Z')
})

test.each([[30, '12:35'], [60, '13:05'], [0, '12:05'], [720, '00:05']])('%d minutes from now it is %s', (minutes, want) => {
  expect(clockIn(minutes, 'Asia/Ho_Chi_Minh', now)).toBe(want)
})

test('an end is a word or an instant', () => {
  expect(untilOf('RESTORED', '', 'UTC', now)).toBe('RESTORED')
  expect(untilOf('END_OF_DAY', '25:00', 'UTC', now)).toBe('END_OF_DAY')
  expect(untilOf('TIME', '', 'UTC', now)).toBeUndefined()
  expect(untilOf('TIME', '05:30', 'UTC', now)).toBe('2026-02-26T05:30:00.000Z')
})
