import { effectScope } from 'vue'
import { beforeEach, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'
import type { StreamOptions } from '@shared/stream'

import type { NoticePage, NoticeSource } from './source'
import { useNotices } from './useNotices'

const { opened } = vi.hoisted(() => ({ opened: [] as StreamOptions[] }))
vi.mock('@shared/stream', () => ({
  follow: (options: StreamOptions) => {
    opened.push(options)
    return () => undefined
  },
}))

beforeEach(() => {
  opened.length = 0
})

const idOf = (n: number) => String(n).padStart(3, '0')

/** The page of the notices from one number down to another; those up to `read` are read. */
function pageOf(from: number, to: number, read = 0): NoticePage {
  const items = Array.from({ length: from - to + 1 }, (_, i) => ({
    id: idOf(from - i), kind: 'ORDER_READY' as const, branchId: '1', orderId: null, createdAt: '', read: from - i <= read,
  }))
  return { items, unread: from - read, newest: idOf(from), next: to > 1 ? idOf(to) : null }
}

test('a new notice drops none of the list that was loaded in parts', async () => {
  const source = { url: '/notices', headers: () => ({}), older: (before: string) => Promise.resolve(pageOf(Number(before) - 1, 1)) }
  const scope = effectScope()
  const notices = scope.run(() => useNotices(source as unknown as NoticeSource))
  await vi.waitFor(() => { expect(opened).toHaveLength(1) })
  const send = (page: NoticePage) => opened[0]?.onEvent({ id: '', name: 'notices', data: JSON.stringify(page) })
  const ids = () => notices?.items.value.map((n) => Number(n.id))

  send(pageOf(5, 3))
  await notices?.more()
  expect(ids()).toEqual([5, 4, 3, 2, 1])
  send(pageOf(6, 4))
  send(pageOf(8, 6))
  expect(ids()).toEqual([8, 7, 6, 5, 4, 3, 2, 1])

  send(pageOf(8, 6, 8)) // all were read on another device
  expect(notices?.items.value.every((n) => n.read)).toBe(true)

  send(pageOf(20, 18)) // after a lost connection; the notices in between must be loaded again
  expect(ids()).toEqual([20, 19, 18])
  await Promise.all([notices?.more(), notices?.more()])
  expect(ids()).toEqual(Array.from({ length: 20 }, (_, i) => 20 - i))
  scope.stop()
})

test('a stream with an expired token opens again once the token can be renewed', async () => {
  vi.useFakeTimers()
  const renew = vi.fn<() => Promise<boolean>>().mockRejectedValueOnce(new Fault('offline')).mockResolvedValue(true)
  const source = { url: '/notices', headers: () => ({}), renew } as unknown as NoticeSource
  const scope = effectScope()
  scope.run(() => useNotices(source))
  await vi.advanceTimersByTimeAsync(0)
  expect(opened).toHaveLength(1)
  opened[0]?.onRefused?.(new Fault('unauthenticated', 401))
  await vi.advanceTimersByTimeAsync(4_000)
  expect([opened.length, renew.mock.calls.length]).toEqual([1, 1])
  await vi.advanceTimersByTimeAsync(1_000)
  expect([opened.length, renew.mock.calls.length]).toEqual([2, 2])

  renew.mockRejectedValue(new Fault('offline'))
  opened[1]?.onRefused?.(new Fault('unauthenticated', 401))
  await vi.advanceTimersByTimeAsync(0)
  scope.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect([opened.length, renew.mock.calls.length], 'after the page').toEqual([2, 3])
  vi.useRealTimers()
})

test.each([[401, false, 1], [403, true, 0]])('a stream refused with %i and a renewal answered %s stays closed', async (status, renewed, asked) => {
  const renew = vi.fn(() => Promise.resolve(renewed))
  const scope = effectScope()
  scope.run(() => useNotices({ url: '/notices', headers: () => ({}), renew } as unknown as NoticeSource))
  await vi.waitFor(() => { expect(opened).toHaveLength(1) })
  opened[0]?.onRefused?.(new Fault('refused', status))
  await new Promise((resolve) => { setTimeout(resolve) })
  expect([opened.length, renew.mock.calls.length]).toEqual([1, asked])
  scope.stop()
})
