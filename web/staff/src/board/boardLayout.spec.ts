import { describe, expect, test } from 'vitest'

import {
  ageOf, allDay, arrivals, canRecall, columnOf, handovers, moved, narrow, nextStep, sorted, spread, ticked, urgencyOf, type Board, type Ticket,
} from './boardLayout'

const at = (minutes: number) => new Date(Date.UTC(2026, 1, 26, 12, minutes)).toISOString()

function ticket(id: string, change: Partial<Ticket> = {}): Ticket {
  return {
    id, number: `A-${id}`, status: 'PLACED', paymentStatus: 'PAID', voided: false, cleared: false, stepAt: null, version: 1,
    kind: 'DINE_IN', tableId: '1', tableLabel: 'A1', receiverName: '', receiverPhone: '', receiverAddress: '', receiverNote: '', method: 'COUNTER',
    placedAt: at(0), paidAt: at(1),
    items: [
      { index: 0, itemId: '11', dishId: '4', categoryId: '1', name: 'Phở bò', qty: 2, notes: '', done: false, voided: false },
      { index: 1, itemId: '12', dishId: '9', categoryId: '2', name: 'Trà đá', qty: 1, notes: '', done: false, voided: false },
    ],
    ...change,
  }
}

function board(tickets: Ticket[], served: Ticket[] = []): Board {
  return {
    id: 'x', branchId: '1', bizDate: '2026-02-26', now: at(10), tickets, served, awaiting: [], more: false, allDay: [],
    stations: [], thresholds: { warnSeconds: 600, lateSeconds: 1200 },
  }
}

test.each([
  ['PLACED', false, false, 'new', 'start', false],
  ['ACCEPTED', false, false, 'new', 'start', true],
  ['PREPARING', false, false, 'preparing', 'ready', true],
  ['READY', false, false, 'ready', 'serve', true],
  ['SERVED', false, false, 'served', undefined, true],
  ['COMPLETED', false, false, 'served', undefined, true],
  ['PREPARING', true, false, 'preparing', 'serve', false],
  ['PREPARING', true, true, 'served', undefined, true],
] as const)('%s, voided %s, cleared %s: %s, then %s, recall %s', (status, voided, cleared, column, next, recall) => {
  const t = ticket('1', { status, voided, cleared })
  expect([columnOf(t), nextStep(t), canRecall(t)]).toEqual([column, next, recall])
})

describe('age', () => {
  test('starts at the payment and stops when the ticket is served', () => {
    expect(ageOf(ticket('1'), Date.parse(at(11)))).toBe(600_000)
    expect(ageOf(ticket('1', { paidAt: null }), Date.parse(at(11)))).toBe(660_000)
    expect(ageOf(ticket('1', { status: 'SERVED', stepAt: at(5) }), Date.parse(at(59)))).toBe(240_000)
    expect(ageOf(ticket('1'), Date.parse(at(0)))).toBe(0)
  })
  test.each([[599_999, 'fresh'], [600_000, 'old'], [1_199_999, 'old'], [1_200_000, 'late']] as const)('%d ms is %s', (age, want) => {
    expect(urgencyOf(age, board([]).thresholds)).toBe(want)
  })
})

test('columns show the oldest tickets first, and served ones newest first', () => {
  const by = sorted(board(
    [ticket('1', { paidAt: at(5) }), ticket('2', { paidAt: at(2) }), ticket('3', { status: 'READY' })],
    [ticket('4', { status: 'SERVED', stepAt: at(6) }), ticket('5', { status: 'SERVED', stepAt: at(8) })],
  ), '')
  expect(by.new.map((t) => t.id)).toEqual(['2', '1'])
  expect(by.ready.map((t) => t.id)).toEqual(['3'])
  expect(by.served.map((t) => t.id)).toEqual(['5', '4'])
})

test('a station sees only its own lines, with their numbers, and only tickets that have such lines', () => {
  const [only] = narrow([ticket('1')], '2')
  expect(only?.items.map((i) => i.index)).toEqual([1])
  expect(narrow([ticket('1')], '3')).toEqual([])
  expect(narrow([ticket('1')], '')).toHaveLength(1)
})

test('the list of dishes to cook has those of a station, the most frequent first', () => {
  const count = (dishId: string, categoryId: string, qty: number, size?: string) => ({ dishId, categoryId, name: `dish ${dishId}`, qty, ...(size ? { size } : {}) })
  const b = { ...board([]), allDay: [count('9', '2', 2), count('5', '1', 3, 'L'), count('5', '1', 4, 'M')] }
  expect(allDay(b, '').map((c) => [c.dishId, c.size, c.qty]), 'all stations').toEqual([['5', 'M', 4], ['5', 'L', 3], ['9', undefined, 2]])
  expect(allDay(b, '2').map((c) => c.dishId), 'one station').toEqual(['9'])
})

test('a line that was just marked as done is shown so at once', () => {
  const items = ticked(board([ticket('1'), ticket('2')]), '1', 0, true).tickets.map((t) => t.items.map((i) => i.done))
  expect(items, 'done lines of the tickets').toEqual([[true, false], [false, false]])
})

test('only new tickets ring, and none at the first load', () => {
  const before = board([ticket('1')], [ticket('2', { status: 'SERVED' })])
  const after = board([ticket('1'), ticket('2', { status: 'ACCEPTED' }), ticket('3')])
  expect(arrivals(undefined, after, '')).toEqual([])
  expect(arrivals(before, after, '').map((t) => t.id)).toEqual(['3'])
  expect(arrivals(before, after, '7')).toEqual([])
})

test('a response moves its ticket at once, but never back to an older state', () => {
  const b = board([ticket('1', { status: 'READY', version: 4 })])
  const done = { ...ticket('1', { status: 'SERVED', version: 5 }) }
  expect(moved(b, done).served.map((t) => t.status)).toEqual(['SERVED'])
  expect(moved(b, done).tickets).toEqual([])
  expect(moved(b, { ...done, version: 3 }).tickets.map((t) => t.status)).toEqual(['READY'])
})

const many = (n: number) => Array.from({ length: n }, () => 0)

test.each([
  ['nothing', 5, [0, 0, 0, 0], undefined],
  ['one state takes as many as it has tickets', 5, [3, 0, 0, 0], { new: 3 }],
  ['the fuller one gets more', 5, [8, 2, 0, 0], { new: 4, preparing: 1 }],
  ['served has one', 5, [1, 0, 0, 30], { new: 1, served: 1 }],
  ['each has one', 4, [9, 9, 9, 9], { new: 1, preparing: 1, ready: 1, served: 1 }],
  ['too narrow', 2, [1, 1, 1, 0], undefined],
] as const)('columns: %s', (_, fit, [fresh, preparing, ready, served], want) => {
  expect(spread(fit, { new: many(fresh), preparing: many(preparing), ready: many(ready), served: many(served) })).toEqual(want)
})

test('tickets to hand over are in the order of the tables', () => {
  const done = ticket('1').items.map((i) => ({ ...i, done: true }))
  const b = board([
    ticket('1', { status: 'READY', tableLabel: 'A10' }), ticket('2', { status: 'PREPARING', tableLabel: 'A2', items: done }),
    ticket('3', { status: 'PREPARING', tableLabel: 'A1' }), ticket('4', { status: 'READY', tableLabel: 'A2', paidAt: at(0) }),
    ticket('5', { status: 'READY', voided: true }),
  ])
  expect(handovers(b, '').map((t) => t.id)).toEqual(['4', '2', '1'])
})
