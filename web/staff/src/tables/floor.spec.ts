import { expect, test } from 'vitest'

import { Fault } from '@shared/api/fault'

import { freeTables, inOrder, lateTables, sectionsOf, stateOf, wasAdded, type Party, type Table } from './floor'
import { readSheet } from './sheet'

const table = (label: string, visit: Partial<Party> | null = null, isActive = true) =>
  ({ id: label, label, isActive, seats: 4, visit: visit && { calls: [], unpaid: 0, ...visit } }) as Table

test('a table shows its most urgent state', () => {
  expect(stateOf(table('A1'))).toBe('free')
  expect(stateOf(table('A1', {}))).toBe('seated')
  expect(stateOf(table('A1', { unpaid: 5 }))).toBe('unpaid')
  expect(stateOf(table('A1', { unpaid: 5 }), true)).toBe('late')
  expect(stateOf(table('A1'), true)).toBe('free') // its guests have left
  expect(stateOf(table('A1', { unpaid: 5, calls: [{ reason: 'BILL', since: '' }] }), true)).toBe('calling')
  expect(stateOf(table('A1', null, false))).toBe('unused')
})

test('a late ticket marks its table by id, whatever its label is', () => {
  const ticket = (tableId: string, minute: number, change: object = {}) => ({
    id: tableId, status: 'PLACED', paymentStatus: 'PAID', voided: false, tableId, tableLabel: 'A1',
    placedAt: `2026-02-26T12:${String(minute)}:00Z`, paidAt: `2026-02-26T12:${String(minute)}:00Z`, items: [], ...change,
  })
  const board = {
    tickets: [ticket('7', 10), ticket('8', 50), ticket('', 10, { kind: 'PICKUP', tableLabel: '' })],
    thresholds: { warnSeconds: 600, lateSeconds: 1200 }, now: '2026-02-26T12:55:00Z',
  } as unknown as Parameters<typeof lateTables>[0]
  expect([...lateTables(board)]).toEqual(['7'])
})

test('tables are sorted by number, and only free ones are offered', () => {
  const all = [table('A10'), table('A2', {}), table('A1', null, false), table('A3')]
  expect(inOrder(all).map((t) => t.label)).toEqual(['A2', 'A3', 'A10', 'A1'])
  expect(freeTables(all).map((t) => t.label)).toEqual(['A3', 'A10'])
})

test('sections are sorted by their first table', () => {
  const all = ['T2 Terrace', 'B1 ', 'A1 Inside', 'A10 Terrace', 'A2 Inside'].map((s) => {
    const [label = '', section] = s.split(' ')
    return { ...table(label), ...(section ? { section } : {}) }
  })
  expect(sectionsOf(inOrder(all)).map((s) => [s.name, ...s.tables.map((t) => t.label)].join(' '))).toEqual([
    'Inside A1 A2', 'Terrace A10 T2', ' B1',
  ])
  expect(sectionsOf([])).toEqual([])
})

test('only drawings are taken from a sheet', () => {
  const pages = readSheet(
    '<style>x</style><svg class="sheet"><text>A1</text><script>bad()</' + 'script></svg><p>more</p><svg></svg>',
  )
  expect(pages).toHaveLength(1)
  expect(pages[0]?.textContent).toBe('A1')
})

test.each([
  ['the same request', 'a', ['A1', 'A2'], true],
  ['another request', 'b', ['A1', 'A2'], false],
  ['a label that was in use before', 'a', ['A1', 'T1'], false],
  ['a label that another person has added, or that is listed twice', 'a', ['A1'], false],
] as const)('tables of a lost answer: %s', (_, request, labels, want) => {
  const lost = { request: 'a', known: new Set(['T1']) }
  expect(wasAdded(lost, request, new Fault('table_label_taken', 409, { labels: [...labels], requested: 2 }))).toBe(want)
  expect(wasAdded(undefined, request, new Fault('table_label_taken', 409, { labels: [...labels], requested: 2 }))).toBe(false)
  expect(wasAdded(lost, request, new Fault('too_many_tables', 422))).toBe(false)
})
