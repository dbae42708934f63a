import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { StreamOptions } from '@shared/stream'

import { useMenu } from './menu'

const { activeMenu, opened } = vi.hoisted(() => ({ activeMenu: vi.fn<() => Promise<unknown>>(), opened: [] as StreamOptions[] }))
vi.mock('../api/public', () => ({ activeMenu, guestHeaders: () => ({}) }))
vi.mock('./popular', () => ({ loadPopular: () => undefined }))
vi.mock('@shared/stream', () => ({
  follow: (options: StreamOptions) => {
    opened.push(options)
    return () => undefined
  },
}))

const version = (menuVersionId: string, more: object = {}) => Promise.resolve({ menuVersionId, currency: 'VND', categories: [], ...more })
const send = (menuVersionId: string, more: object = {}) => {
  opened.at(-1)?.onEvent({
    id: '', name: 'availability',
    data: JSON.stringify({ menuVersionId, isPaused: false, isClosed: false, complete: true, cartVersion: null, items: [], ...more }),
  })
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const { menu, load, watch } = useMenu()

beforeEach(async () => {
  vi.useFakeTimers()
  localStorage.clear()
  activeMenu.mockReset().mockImplementation(() => version('1'))
  await load('1', '1')
  watch()
  opened.at(-1)?.onLive?.(true)
  send('1')
})
afterEach(() => {
  opened.at(-1)?.onLive?.(false)
  vi.useRealTimers()
})

test('an answer that lags behind the stream is asked for again', async () => {
  send('2') // of a process that knows the change; the others learn of it later
  await pass(0)
  expect([menu.value?.menuVersionId, activeMenu.mock.calls.length]).toEqual(['1', 2])
  await pass(1_000)
  activeMenu.mockImplementation(() => version('2'))
  await pass(2_999)
  expect([menu.value?.menuVersionId, activeMenu.mock.calls.length]).toEqual(['1', 3])
  await pass(1)
  expect([menu.value?.menuVersionId, activeMenu.mock.calls.length]).toEqual(['2', 4])
  await pass(60_000)
  expect(activeMenu).toHaveBeenCalledTimes(4)
})

test.each([['pause', { isPaused: true }, { paused: {} }], ['closing', { isClosed: true }, { closed: {} }]])('a %s stays known', async (_, event, state) => {
  activeMenu.mockImplementation(() => version('1', state))
  send('1', event)
  await pass(0)
  activeMenu.mockImplementationOnce(() => version('1'))
  await load() // in another language, from a process that lags behind
  await pass(1_000)
  expect(menu.value).toMatchObject(state)
  expect(activeMenu).toHaveBeenCalledTimes(4)
})

test('an answer that never agrees is asked for twice more', async () => {
  send('2')
  await pass(60_000)
  expect(activeMenu).toHaveBeenCalledTimes(4)
})

test('a menu of another branch, or without the stream, is not compared', async () => {
  activeMenu.mockImplementation(() => version('7'))
  await load('2', '1')
  await pass(60_000)
  expect(activeMenu).toHaveBeenCalledTimes(2)
  send('8')
  opened.at(-1)?.onLive?.(false)
  await pass(60_000)
  expect(activeMenu).toHaveBeenCalledTimes(3)
})
