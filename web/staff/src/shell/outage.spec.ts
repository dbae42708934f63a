import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'
import { retryAfterOutage } from './outage'

let up = false

beforeEach(() => {
  up = false
  vi.useFakeTimers()
  vi.stubGlobal('fetch', () => (up ? Promise.resolve(new Response()) : Promise.reject(new TypeError('refused'))))
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** A request that the server answers while it is up. */
const ask = () => vi.fn(() => (up ? Promise.resolve('an answer') : Promise.reject(new Fault('offline'))))

test('a request is sent again when the server is back', async () => {
  const send = ask()
  const away = vi.fn()
  const answer = retryAfterOutage(send, away, () => true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect([send.mock.calls.length, away.mock.calls.length]).toEqual([1, 1])
  up = true
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await answer).toBe('an answer')
  expect(send).toHaveBeenCalledTimes(2)
})

test('an answer that is no longer wanted is not requested again', async () => {
  const send = ask()
  let wanted = true
  const answer = retryAfterOutage(send, () => undefined, () => wanted)
  await vi.advanceTimersByTimeAsync(0)
  wanted = false
  up = true
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await answer).toBeUndefined()
  expect(send).toHaveBeenCalledTimes(1)
})

test('a refusal and a second failure are final', async () => {
  const refused = vi.fn(() => Promise.reject(new Fault('forbidden', 403)))
  await expect(retryAfterOutage(refused, () => undefined, () => true)).rejects.toThrow('forbidden')
  const lost = vi.fn(() => Promise.reject(new Fault('offline')))
  up = true
  const answer = expect(retryAfterOutage(lost, () => undefined, () => true)).rejects.toThrow('offline')
  await vi.advanceTimersByTimeAsync(10_000)
  await answer
  expect(lost).toHaveBeenCalledTimes(2)
})
