import { beforeEach, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'

import type { ListedOrder } from './dto'
import { useOrderList } from './orderlist'

const { orders } = vi.hoisted(() => ({ orders: vi.fn() }))
vi.mock('./api', () => ({ orders }))

/** A page of orders, numbered from the newest. */
const page = (from: number, to: number, language = 'en') => ({
  items: Array.from({ length: to - from + 1 }, (_, i) => ({ id: String(from + i), number: language }) as ListedOrder), total: 25,
})
const shown = ({ list }: ReturnType<typeof useOrderList>) => list.value?.map((o) => o.id + o.number)

beforeEach(() => {
  orders.mockReset()
})

test('pages follow each other, and an order that has moved to the next page is listed once', async () => {
  const list = useOrderList()
  orders.mockResolvedValueOnce(page(1, 10)).mockResolvedValueOnce(page(10, 19))
  await list.more()
  await list.more()
  expect(orders.mock.calls).toEqual([[1, 10], [2, 10]])
  expect(list.list.value?.map((o) => Number(o.id))).toEqual(Array.from({ length: 19 }, (_, i) => i + 1))
  expect([list.total.value, list.busy.value]).toEqual([25, false])
  orders.mockResolvedValueOnce(page(20, 25))
  await list.more()
  expect(orders.mock.calls.at(-1), 'the list of 19 orders has two pages').toEqual([3, 10])
  expect(list.list.value).toHaveLength(25)
})

test('a page that was requested in another language is not added, whichever answer comes first', async () => {
  const list = useOrderList()
  orders.mockResolvedValueOnce(page(1, 10))
  await list.more()
  const answers: ((got: ReturnType<typeof page>) => void)[] = []
  orders.mockImplementation(() => new Promise((resolve) => { answers.push(resolve) }))
  const late = list.more()
  const again = list.restart()
  answers[0]?.(page(11, 20))
  await late
  expect([shown(list), list.busy.value], 'while the first page is loading').toEqual([undefined, true])
  answers[1]?.(page(1, 2, 'vi'))
  await again
  expect([shown(list), list.busy.value]).toEqual([['1vi', '2vi'], false])

  const [older, newer] = [list.more(), list.restart()]
  answers[3]?.(page(1, 2, 'zh'))
  await newer
  answers[2]?.(page(3, 4, 'vi'))
  await older
  expect(shown(list)).toEqual(['1zh', '2zh'])
})

test('a failure keeps the list, unless a newer request has been sent', async () => {
  const list = useOrderList()
  orders.mockResolvedValueOnce(page(1, 10)).mockRejectedValueOnce(new Fault('offline')).mockRejectedValueOnce(new Fault('offline'))
  await list.more()
  await list.more()
  expect([list.fault.value?.code, list.list.value?.length, list.busy.value]).toEqual(['offline', 10, false])
  const late = list.more()
  orders.mockResolvedValueOnce(page(1, 10, 'vi'))
  await Promise.all([late, list.restart()])
  expect([list.fault.value, list.list.value?.[0]?.number]).toEqual([undefined, 'vi'])
})
