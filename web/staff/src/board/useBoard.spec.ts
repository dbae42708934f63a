import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope, ref } from 'vue'

import { Fault } from '@shared/api/fault'
import type { StreamOptions } from '@shared/stream'
import { useBoard } from './useBoard'

const streams = vi.hoisted(() => [] as StreamOptions[])
const renew = vi.hoisted(() => vi.fn<() => Promise<unknown>>())
const ended = vi.hoisted(() => vi.fn())
vi.mock('@shared/stream', () => ({ follow: (o: StreamOptions) => { streams.push(o); return ended } }))
vi.mock('../shell/session', () => ({ renew, bearer: () => Promise.resolve({}), bearerNow: () => ({}) }))

beforeEach(() => {
  streams.length = 0
  ended.mockReset()
  renew.mockReset()
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** A board whose stream was refused after its token expired. */
async function refusedBoard() {
  const scope = effectScope()
  const board = scope.run(() => useBoard(ref('1')))
  await vi.advanceTimersByTimeAsync(0)
  streams[0]?.onRefused?.(new Fault('unauthenticated', 401))
  await vi.advanceTimersByTimeAsync(0)
  return { scope, board }
}

test('a board whose token has expired reconnects with a new one', async () => {
  renew.mockResolvedValue({})
  const { scope } = await refusedBoard()
  expect(streams).toHaveLength(2)
  scope.stop()
})

test('a board reconnects once a new token is available', async () => {
  renew.mockRejectedValueOnce(new Fault('unavailable', 503)).mockRejectedValueOnce(new Fault('offline'))
  const { scope, board } = await refusedBoard()
  expect(streams).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(5000)
  expect(streams).toHaveLength(2) // the server then checks its token
  streams[1]?.onRefused?.(new Fault('unauthenticated', 401))
  await vi.advanceTimersByTimeAsync(5000)
  expect(streams).toHaveLength(3)
  streams[2]?.onLive?.(true)
  expect(board?.live.value).toBe(true)
  scope.stop()
})

test('a board that was closed is not reopened', async () => {
  renew.mockRejectedValueOnce(new Fault('unavailable', 503))
  const { scope } = await refusedBoard()
  scope.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(streams).toHaveLength(1)
})

test('a logout ends the attempts to reconnect', async () => {
  renew.mockRejectedValueOnce(new Fault('refresh_token_invalid', 401))
  const { scope } = await refusedBoard()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(streams).toHaveLength(1)
  scope.stop()
})

test('a refused board shows the tickets again after another attempt', async () => {
  const scope = effectScope()
  const board = scope.run(() => useBoard(ref('1')))
  await vi.advanceTimersByTimeAsync(0)
  streams[0]?.onRefused?.(new Fault('forbidden', 403))
  expect(board?.refused.value?.code).toBe('forbidden')
  await board?.again()
  expect(streams).toHaveLength(2)
  streams[1]?.onLive?.(true)
  expect([board?.refused.value, board?.live.value]).toEqual([undefined, true])
  scope.stop()
})

test('after six hours with a token that expires every ten minutes, one stream and one timer are left', async () => {
  renew.mockResolvedValue({})
  const scope = effectScope()
  const board = scope.run(() => useBoard(ref('1')))
  await vi.advanceTimersByTimeAsync(0)
  const timers = vi.getTimerCount()
  for (let n = 0; n < 36; n++) {
    streams.at(-1)?.onLive?.(true)
    streams.at(-1)?.onEvent({ id: String(n), name: 'board', data: JSON.stringify({ id: String(n), tickets: [], served: [] }) })
    await vi.advanceTimersByTimeAsync(10 * 60_000)
    streams.at(-1)?.onRefused?.(new Fault('unauthenticated', 401))
    await vi.advanceTimersByTimeAsync(0)
  }
  expect([streams.length, ended.mock.calls.length]).toEqual([37, 36]) // the last one is open
  expect(vi.getTimerCount()).toBe(timers)
  expect([board?.board.value?.id, board?.busy.value.size]).toEqual(['35', 0])
  scope.stop()
  expect([ended.mock.calls.length, vi.getTimerCount()]).toEqual([37, 0])
})
