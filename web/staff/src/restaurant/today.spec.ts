import { describe, expect, it } from 'vitest'

import type { Board, Ticket } from '../board/boardLayout'
import { changeLanguage } from '../shell/i18n'
import { byNow, closedNow, growth, kitchenOf, nextChange, timeAt } from './today'

describe('sales by this time', () => {
  const hours = Array.from({ length: 24 }, (_, hour) => ({ hour, gross: { 1: 40, 11: 100, 12: 600 }[hour] ?? 0 }))
  it.each([
    [4, 0, 0],
    [11, 30, 50],
    [12, 0, 100],
    [12, 15, 250],
    [23, 59, 700],
    [1, 30, 720], // after midnight the business day is still the previous one
    [3, 59, 740],
  ])('until %i:%i are %i', (hour, minute, want) => {
    expect(byNow(hours, hour, minute, 4)).toBe(want)
  })
})

it('compares only with a day that had sales', () => {
  expect(growth(150, 100)).toBe(0.5)
  expect(growth(0, 100)).toBe(-1)
  expect(growth(100, 0)).toBeUndefined()
})

it('uses the time zone of the branch', () => {
  expect(timeAt(Date.parse('2026-11-23T17:05:00Z'), 'Asia/Ho_Chi_Minh')).toEqual({ hour: 0, minute: 5 })
})

it('counts the open and the late tickets of the kitchen', () => {
  const ticket = (paidAt: string, more: Partial<Ticket> = {}) =>
    ({ status: 'ACCEPTED', voided: false, cleared: false, placedAt: paidAt, paidAt, stepAt: null, ...more }) as Ticket
  const board = {
    now: '2026-11-23T12:00:00Z', thresholds: { warnSeconds: 600, lateSeconds: 1200 },
    tickets: [
      ticket('2026-11-23T11:59:00Z'), ticket('2026-11-23T11:39:00Z'), ticket('2026-11-23T11:30:00Z', { voided: true }),
      ticket('2026-11-23T11:40:00Z', { status: 'READY' }),
    ],
  } as unknown as Board
  expect(kitchenOf(board)).toEqual({ open: 3, late: 2 })
})

it('shows the next opening of a branch that is closed by its hours', async () => {
  await changeLanguage('en')
  const now = Date.parse('2026-02-26T02:00:00Z') // Thursday, nine in Hanoi
  const said = (more: object) => closedNow({ isOpen: true, isOpenNow: false, hoursChange: null, timezone: 'Asia/Ho_Chi_Minh', ...more }, now)
  expect(said({ hoursChange: '2026-02-26T04:00:00Z' })).toBe('Closed, opens at 11:00')
  expect(said({ hoursChange: '2026-02-27T04:00:00Z' })).toBe('Closed, opens on Friday at 11:00')
  expect(said({})).toBe('Closed')
  expect(said({ isOpenNow: true, hoursChange: '2026-02-26T04:00:00Z' })).toBe('')
  expect(said({ isOpen: false, hoursChange: '2026-02-26T04:00:00Z' })).toBe('') // the switch has a text of its own
})

it('reloads at the earliest change', () => {
  const at = (hoursChange: string | null) => ({ hoursChange })
  expect(nextChange([at(null), at('2026-02-26T12:00:00+07:00'), at('2026-02-26T04:30:00Z')])).toBe('2026-02-26T04:30:00Z')
  expect(nextChange([at(null)])).toBeUndefined()
})
