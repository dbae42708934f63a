import { effectScope } from 'vue'
import { expect, test, vi } from 'vitest'

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
