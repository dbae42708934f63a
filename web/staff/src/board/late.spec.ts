import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { Ticket } from './boardLayout'
import { LateTickets, lateTickets } from './late'

const minute = 60_000
const start = Date.UTC(2026, 1, 26, 12)
const thresholds = { warnSeconds: 600, lateSeconds: 1200 }
const ticket = (id: string, paid: number, change: Partial<Ticket> = {}): Ticket => ({
  id, number: id, status: 'PLACED', paymentStatus: 'PAID', voided: false, cleared: false, stepAt: null, version: 1, kind: 'DINE_IN',
  tableId: '1', tableLabel: 'A1', receiverName: '', receiverPhone: '', receiverAddress: '', receiverNote: '', method: 'COUNTER',
  placedAt: new Date(paid).toISOString(), paidAt: new Date(paid).toISOString(), items: [], ...change,
})

beforeEach(() => vi.useFakeTimers({ now: start }))
afterEach(() => vi.useRealTimers())

test.each([
  [{}, 20, true], [{}, 19, false], [{ status: 'PREPARING' }, 30, true], [{ status: 'READY' }, 30, false], [{ status: 'SERVED' }, 30, false],
  [{ voided: true }, 30, false],
] as const)('%j after %i minutes is late: %s', (change, minutes, want) => {
  expect(lateTickets([ticket('1', start, change)], thresholds, start + minutes * minute)).toHaveLength(want ? 1 : 0)
})

test('a late ticket rings every two minutes until it is touched', () => {
  const known = new LateTickets()
  const late = [ticket('1', start)]
  const at = (n: number) => known.due(late, start + n * minute)
  expect([20, 21, 22, 23.9, 24].map(at)).toEqual([true, false, true, false, true])
  known.touch(['1'])
  expect(known.untouched(late)).toEqual([])
  expect([26, 40].map(at)).toEqual([false, false])
  late.push(ticket('2', start))
  expect(at(41)).toBe(true) // another one
  expect(known.untouched(late).map((t) => t.id)).toEqual(['2'])
})

test('finished tickets of a shift leave nothing in memory', () => {
  const known = new LateTickets()
  let largest = 0
  for (let n = 0; n < 6 * 60; n++) { // one each minute, which stays for half an hour
    const now = start + n * minute
    const open = Array.from({ length: 30 }, (_, back) => n - back).filter((m) => m >= 0).map((m) => ticket(String(m), start + m * minute))
    const late = lateTickets(open, thresholds, now)
    known.due(late, now)
    if (n % 2 === 0) known.touch(late.slice(0, 1).map((t) => t.id))
    largest = Math.max(largest, known.size)
  }
  expect(largest).toBeLessThanOrEqual(2 * 30)
  known.due([], start)
  expect(known.size).toBe(0)
})
