import { beforeEach, expect, test } from 'vitest'

import { forgetServerTime, noteServerTime, serverNow } from './time'

beforeEach(forgetServerTime)

const date = 'Thu, 26 Feb 2026 05:00:00 GMT'
const at = Date.parse(date)

test('a phone with a wrong clock uses the server’s time', () => {
  noteServerTime(date, at - 3_600_000)
  expect(serverNow(at - 3_600_000)).toBe(at + 500)
})

test('small differences between answers do not move the clock', () => {
  noteServerTime(date, at)
  const before = serverNow(at)
  noteServerTime(date, at + 1000)
  expect(serverNow(at)).toBe(before)
})

test.each([null, '', 'soon'])('the header %j does not change the clock', (header) => {
  noteServerTime(header, at)
  expect(serverNow(at)).toBe(at)
})
