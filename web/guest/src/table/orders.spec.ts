import { beforeEach, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'

import type { ListedOrder } from '../api/dto'
import { hasRefunds, paidOf, sharesOf, useTableOrders } from './orders'

const { answers, seat } = vi.hoisted(() => ({ answers: [] as Promise<unknown>[], seat: vi.fn() }))
vi.mock('../api/public', () => ({ ordersOfVisit: () => answers.shift() }))
vi.mock('./session', () => ({ useSession: () => ({ seat }) }))

const table = { id: '1', label: 'A1' }

beforeEach(() => { seat.mockReset() })

test('neither a late answer nor a failure replaces newer orders', async () => {
  const { orders, fault, load } = useTableOrders()
  let arrive: (orders: unknown) => void = () => undefined
  answers.push(new Promise((resolve) => (arrive = resolve)), Promise.resolve({ orders: [{ id: 'new' }], table: { id: '2', label: 'A2' } }))
  const late = load('v1')
  await load('v1')
  arrive({ orders: [{ id: 'old' }], table })
  await late
  expect(orders.value).toEqual([{ id: 'new' }])
  expect(seat.mock.calls).toEqual([['v1', { id: '2', label: 'A2' }]])

  answers.push(Promise.reject(new Fault('offline')))
  await load('v1')
  expect(orders.value).toEqual([{ id: 'new' }])
  expect(fault.value?.passing).toBe(true)

  answers.push(Promise.resolve({ orders: [], table }))
  await load('v2')
  expect(orders.value).toEqual([])
  expect(fault.value).toBeUndefined()
})

test('the phones of a table see the amounts that each has paid, that of this phone first', () => {
  const order = (phone: number, paymentStatus: string, totalPrice: number, refunded = 0) =>
    ({ phone, mine: phone === 2, paymentStatus, totalPrice, refunded }) as ListedOrder
  const all = [order(3, 'UNPAID', 5), order(1, 'PAID', 7), order(2, 'PAID', 11, 4), order(1, 'PAID', 13), order(3, 'REFUNDED', 9, 9)]
  expect(sharesOf(all)).toEqual([
    { phone: 2, mine: true, paid: 7 }, { phone: 1, mine: false, paid: 20 }, { phone: 3, mine: false, paid: 0 },
  ])
  expect(sharesOf([order(2, 'PAID', 11)])).toEqual([])
  expect(paidOf(all)).toBe(27)
  expect([all, all.slice(0, 2), all.slice(2, 3), all.slice(4)].map(hasRefunds)).toEqual([true, false, true, true])
})
