import { expect, test } from 'vitest'

import type { Order } from '../api/dto'
import { timelineOf } from './timeline'

/** An order with these steps, one per minute. */
function order(status: string, paymentStatus: string, events: string, cancelReason = ''): Order {
  const timeline = events.split(' ').map((event, i) => ({ event, at: `2026-02-26T05:0${String(i)}:00Z` }))
  return { status, paymentStatus, cancelReason, timeline } as Order
}

const shown = (o: Order, kind = '') => timelineOf(o, kind).map((s) => `${s.icon} ${s.text.replace('timeline.', '')}${s.at ? '' : ' next'}`)

test.each([
  ['PLACED', 'PLACED PAID', '', 'nextKitchen'],
  ['ACCEPTED', 'PLACED PAID ACCEPTED', '', 'nextKitchen'],
  ['PREPARING', 'PLACED PAID ACCEPTED PREPARING', '', 'nextReady'],
  ['READY', 'PLACED PAID ACCEPTED PREPARING READY', '', 'nextServed'],
  ['READY', 'PLACED PAID ACCEPTED PREPARING READY', 'DELIVERY', 'nextServed'],
  ['READY', 'PLACED PAID ACCEPTED PREPARING READY', 'PICKUP', 'nextPickup'],
])('the next step after %s', (status, events, kind, next) => {
  const steps = shown(order(status, 'PAID', events), kind)
  expect(steps.at(-1)).toBe(`clock ${next} next`)
  expect(new Set(steps).size).toBe(steps.length)
})

test('an ended order has no next step', () => {
  expect(shown(order('SERVED', 'PAID', 'PLACED PAID SERVED'))).toEqual(['check placed', 'check paid', 'check served'])
  expect(shown(order('COMPLETED', 'PAID', 'PLACED PAID COMPLETED'), 'PICKUP').at(-1)).toBe('check completed')
  expect(shown(order('COMPLETED', 'PAID', 'PLACED PAID COMPLETED'), 'DELIVERY').at(-1)).toBe('check delivered')
  expect(shown(order('PLACED', 'UNPAID', 'PLACED'))).toEqual(['check placed'])
})

test('canceled and expired orders have no tick', () => {
  expect(shown(order('CANCELED', 'CANCELED', 'PLACED CANCELED', 'USER_CANCELED')).at(-1)).toBe('close canceled')
  expect(shown(order('CANCELED', 'CANCELED', 'PLACED CANCELED', 'STAFF_CANCELED')).at(-1)).toBe('close canceled')
  expect(shown(order('CANCELED', 'CANCELED', 'PLACED CANCELED', 'EXPIRED')).at(-1)).toBe('close expired')
  // A late payment restores an expired order, which then has no cancel reason.
  expect(shown(order('PLACED', 'PAID', 'PLACED CANCELED PAID'))).toEqual(['check placed', 'close expired', 'check paid', 'clock nextKitchen next'])
})

test('a refund is pending until it is done, and has its amount', () => {
  const due = { amount: 30, createdAt: '2026-02-26T05:02:30Z', doneAt: null }
  const done = { amount: 20, createdAt: '2026-02-26T05:01:10Z', doneAt: '2026-02-26T05:01:20.5Z' }
  const of = (o: Order, ...refunds: unknown[]) => timelineOf({ ...o, refunds } as Order, '').map((s) => [s.icon, s.text.replace('timeline.', ''), s.amount])
  expect(of(order('CANCELED', 'REFUND_DUE', 'PLACED CANCELED REFUND_DUE', 'EXPIRED'), due).at(-1)).toEqual(['clock', 'refundDue', 30])
  expect(of(order('SERVED', 'PAID', 'PLACED PAID SERVED REFUND_DUE REFUNDED REFUND_DUE'), due, done)).toEqual([
    ['check', 'placed', undefined], ['check', 'paid', undefined], ['check', 'refunded', 20], ['check', 'served', undefined], ['clock', 'refundDue', 30],
  ])
})
