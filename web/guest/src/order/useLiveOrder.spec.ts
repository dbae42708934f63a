import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope, type EffectScope } from 'vue'

import { Fault } from '@shared/api/fault'
import type { StreamOptions } from '@shared/stream'

import { offline } from '../shell/connection'
import { useLiveOrder } from './useLiveOrder'

interface Paid { paid: boolean }

const streams: StreamOptions[] = []
vi.mock('@shared/stream', () => ({
  follow: (options: StreamOptions) => {
    streams.push(options)
    return () => undefined
  },
}))

const fetch = vi.fn<() => Promise<Paid>>()
const renew = vi.fn<() => Promise<boolean>>()
let scope: EffectScope
let hidden = false

const begin = () => scope.run(() => useLiveOrder<Paid>({ fetch, url: '/o', headers: () => ({}), renew })) as ReturnType<typeof useLiveOrder<Paid>>
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const look = (away: boolean) => {
  hidden = away
  document.dispatchEvent(new Event('visibilitychange'))
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden)
  streams.length = 0
  hidden = offline.value = false
  fetch.mockReset().mockResolvedValue({ paid: false })
  renew.mockReset().mockResolvedValue(true)
  scope = effectScope()
})
afterEach(() => {
  scope.stop()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test('an order is loaded at once and whenever the page becomes visible, but not while it is hidden', async () => {
  const { order } = begin()
  await pass(0)
  expect(order.value).toEqual({ paid: false })
  look(true)
  await pass(60_000)
  expect(fetch).toHaveBeenCalledTimes(1)
  fetch.mockResolvedValue({ paid: true })
  look(false)
  await pass(0)
  expect(order.value).toEqual({ paid: true })
})

test('it is polled only while the stream is down', async () => {
  begin()
  await pass(4000)
  expect(fetch).toHaveBeenCalledTimes(3)
  streams[0]?.onLive?.(true)
  await pass(60_000)
  expect(fetch).toHaveBeenCalledTimes(3)
})

test('an answer that is older than the stream is not shown', async () => {
  let answer: (order: Paid) => void = () => undefined
  fetch.mockReturnValue(new Promise((resolve) => { answer = resolve }))
  const { order } = begin()
  await pass(0)
  streams[0]?.onEvent({ id: '1', name: 'order', data: '{"paid":true}' })
  answer({ paid: false })
  await pass(0)
  expect(order.value).toEqual({ paid: true })
})

test('an answer ends the error state of a lost one', async () => {
  fetch.mockRejectedValueOnce(new Fault('offline'))
  const { order, fault } = begin()
  await pass(0)
  expect(offline.value).toBe(true)
  expect(fault.value?.code).toBe('offline')
  await pass(2000)
  expect(offline.value).toBe(false)
  expect(fault.value).toBeUndefined()
  expect(order.value).toEqual({ paid: false })
})

test('a refused stream is reopened with a new token; without a token the order is polled', async () => {
  begin()
  await pass(0)
  streams[0]?.onLive?.(true)
  streams[0]?.onRefused?.(new Fault('unauthenticated', 401))
  await pass(0)
  expect(streams).toHaveLength(2)
  renew.mockResolvedValue(false)
  streams[1]?.onLive?.(true)
  streams[1]?.onRefused?.(new Fault('unauthenticated', 401))
  await pass(2000)
  expect(streams).toHaveLength(2)
  expect(fetch).toHaveBeenCalledTimes(2)
})

test('the users of one order share its stream, and the last one ends it', async () => {
  const other = effectScope()
  const mine = begin()
  const theirs = other.run(() => useLiveOrder<Paid>({ fetch, url: '/o', headers: () => ({}) }))
  await pass(0)
  expect(streams).toHaveLength(1)
  expect(fetch).toHaveBeenCalledTimes(2) // the second user does not wait for the next poll
  streams[0]?.onEvent({ id: '1', name: 'order', data: '{"paid":true}' })
  expect([mine.order.value, theirs?.order.value]).toEqual([{ paid: true }, { paid: true }])
  scope.stop()
  await pass(2000)
  expect(fetch).toHaveBeenCalledTimes(3)
  other.stop()
  await pass(60_000)
  expect(fetch).toHaveBeenCalledTimes(3)
})

test('an order without a stream is polled, until another user opens its stream', async () => {
  scope.run(() => useLiveOrder<Paid>({ fetch, url: '/o', headers: () => ({}) }, false))
  await pass(2000)
  expect([streams.length, fetch.mock.calls.length]).toEqual([0, 2])
  begin()
  await pass(0)
  expect(streams).toHaveLength(1)
})
