import { beforeAll, expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { brief, said, type Shown } from './figure'
import * as interest from './interest'
import { members } from './members'
import { drawable, heightOf, optionOf } from './option'
import { sheetPath } from './reports'
import * as reportFigures from './reportFigures'

const span = { from: '2026-03-01', to: '2026-03-03' }
const head = { branchId: '1', currency: 'VND', timezone: 'Asia/Ho_Chi_Minh', ...span }

beforeAll(() => changeLanguage('en'))

/** Checks that each row has a cell for each column. */
function wantWhole(s: Shown): void {
  for (const f of s.figures) for (const row of f.rows) expect(row, f.title).toHaveLength(f.columns.length)
}

const figures = { placed: 3, sales: 2, canceled: 1, open: 0, gross: 300, refunded: 100, net: 200 }
const hourly = (hour: number, placed: number) => ({ hour, placed, sales: placed, gross: placed * 100 })

test('sales by day: the chart has every day, the table only days with orders', () => {
  const s = reportFigures.salesDays({ ...head, days: [{ date: '2026-03-02', ...figures }], totals: figures }, span)
  wantWhole(s)
  const [f] = s.figures
  expect(f?.chart).toMatchObject({ kind: 'bars', series: [{ values: [0, 200, 0] }] })
  expect(f?.rows).toEqual([['2026-03-02', 3, 2, 1, 0, 300, 100, 200]])
  expect(s.tiles[0]).toMatchObject({ value: 200, kind: 'money' })
})

test('daily limits: a dish that was 86’d says so, with its limit if that is known', () => {
  const q = { date: '2026-03-02', itemId: '1', name: 'Pho', cap: 30, held: 0, sold: 4, sellThrough: 0.13, soldOut: false, soldOutAt: null, eightySixed: false }
  const s = reportFigures.quotas({ ...head, items: [q, { ...q, eightySixed: true }, { ...q, cap: null, sellThrough: null, eightySixed: true }], page: 1, size: 20, total: 3 })
  wantWhole(s)
  expect(s.figures[0]?.rows.map((r) => r.slice(2))).toEqual([[30, 0, 4, 0.13, ''], [30, 0, 4, 0.13, '86’d'], [null, 0, 4, null, '86’d']])
  const columns = s.figures[0]?.columns ?? []
  expect([2, 5].map((i) => said(s.figures[0]?.rows[2]?.[i] ?? null, columns[i]?.kind ?? 'text', 'VND'))).toEqual(['–', '–'])
})

test('sales by hour: 24 bars, and a map of the week with Monday on top', () => {
  const s = reportFigures.salesHours({
    ...head, hours: Array.from({ length: 24 }, (_, h) => hourly(h, h === 12 ? 4 : 0)), cells: [{ weekday: 1, ...hourly(12, 4) }], totals: hourly(0, 4),
  })
  wantWhole(s)
  const [byHour, map] = s.figures
  expect(byHour?.rows).toEqual([['12:00', 4, 4, 400]])
  expect(map?.chart).toMatchObject({ kind: 'heat', cells: [[12, 0, 4]] })
  expect(map?.rows[0]?.[0]).toBe('Monday')
})

test('options show how many portions of a dish have them', () => {
  const s = reportFigures.options({
    branchId: '1', from: '2026-03-01', to: '2026-03-03', timezone: 'Asia/Taipei', currency: 'TWD', page: 1, size: 20, total: 1,
    items: [{ dishId: '7', dish: '', groupId: '2', group: '', optionId: '9', name: 'Large', qty: 30, portions: 40, perDish: 0.75 }],
  })
  expect(s.figures[0]?.rows[0]?.slice(1), 'group, option, chosen, portions and share').toEqual(['Deleted group', 'Large', 30, 40, 0.75])
  expect(s.figures[0]?.rows[0]?.[0], 'the name of a deleted dish').toContain('7')
})

test('views: dishes that were ordered without a view have no share', () => {
  const s = interest.views({
    ...head, page: 1, size: 20, total: 2, totals: { viewed: 20, added: 3, menuPages: 9, cartPages: 4, checkoutPages: 1 },
    items: [
      { dishId: '4', name: 'Phở', viewed: 20, added: 3, orders: 5, orderedShare: 0.25 },
      { dishId: '9', name: '', viewed: 0, added: 0, orders: 2, orderedShare: 0 },
    ],
  })
  wantWhole(s)
  expect(s.figures[0]?.rows).toEqual([['Phở', 20, 3, 5, 0.25], ['Deleted dish 9', 0, 0, 2, null]])
  expect(s.tiles.map((tile) => tile.value)).toEqual([9, 20, 3, 4, 1])
})

test('searches: what was not found comes first', () => {
  const [pho, cake] = [{ text: 'pho', searches: 10, missed: 0 }, { text: 'banh khong co', searches: 3, missed: 3 }]
  const s = interest.searches({ ...head, missed: [cake], searched: [pho, cake], totals: { texts: 2, searches: 13, missed: 3 } })
  wantWhole(s)
  expect(s.figures.map((f) => f.rows[0])).toEqual([['banh khong co', 3, 3], ['pho', 10, 0]])
  expect(s.figures[0]?.chart).toMatchObject({ kind: 'rows', names: ['banh khong co'], series: [{ values: [3] }] })
  expect(s.tiles.map((tile) => tile.value)).toEqual([13, 3, 2])
})

test('carts: the chart has every day', () => {
  const day = { begun: 5, ordered: 3, abandoned: 1, open: 1, memberCarts: 2, memberAmount: 700 }
  const s = interest.carts({ ...head, days: [{ date: '2026-03-02', ...day }], totals: day }, span)
  wantWhole(s)
  expect(s.figures[0]?.chart).toMatchObject({ series: [{ values: [0, 1, 0] }, { values: [0, 2, 0] }] })
  expect(s.figures[0]?.rows).toEqual([['2026-03-02', 5, 3, 1, 1, 2, 700]])
})

test('deleted dishes still have a name', () => {
  const s = reportFigures.dishes({
    ...head, page: 1, size: 20, total: 41, totals: { gross: 10, qty: 1 }, items: [{ rank: 1, dishId: '9', name: '', qty: 1, gross: 10, share: 1 }],
  })
  wantWhole(s)
  expect(s.figures[0]?.rows[0]?.[1]).toContain('9')
  expect(s.total).toBe(41)
})

test('tickets: charts show the whole time, tables every phase', () => {
  const pace = (phase: 'WHOLE' | 'ACCEPT', p50Ms: number) => ({ phase, orders: 2, p50Ms, p90Ms: p50Ms * 2 })
  const s = reportFigures.tickets({
    ...head, days: [{ date: '2026-03-01', ...pace('WHOLE', 60_000) }, { date: '2026-03-01', ...pace('ACCEPT', 5000) }],
    hours: [{ hour: 9, ...pace('WHOLE', 60_000) }],
  }, span)
  wantWhole(s)
  expect(s.figures[0]?.rows).toHaveLength(2)
  expect(s.figures[0]?.chart).toMatchObject({ kind: 'lines', series: [{ values: [60_000, null, null] }, { values: [120_000, null, null] }] })
})

test('payments: paid amounts are summed by payment method', () => {
  const attempt = (method: string, state: string, amount: number) => ({ method, state, amount, number: 1 })
  const s = reportFigures.payments({
    ...head, attempts: [attempt('COUNTER', 'PAID', 100), attempt('COUNTER', 'PAID', 50), attempt('VNPAY', 'FAILED', 70), attempt('COUNTER', 'CREATED', 30)],
    failures: [{ method: 'VNPAY', code: '24', result: 'CANCELED', number: 2 }], refunds: [],
    totals: { captured: 150, done: 0, kept: 150, refunded: 0, returned: 0 },
  })
  wantWhole(s)
  expect(s.figures[0]?.chart).toMatchObject({ names: ['Counter'], series: [{ values: [150] }] })
  expect(s.figures[0]?.rows.at(-1)).toEqual(['Counter', 'Not paid yet', 1, 30])
  expect(s.figures[1]?.chart).toMatchObject({ names: ['VNPay 24'], series: [{ values: [2] }] })
})

test('lost orders and refunds by day', () => {
  const ended = reportFigures.expired({
    ...head, rows: [{ date: '2026-03-03', reason: 'EXPIRED', orders: 2, amount: 20, abandoned: 1, abandonedAmount: 10 }],
    totals: { orders: 2, amount: 20, abandoned: 1, abandonedAmount: 10 },
  }, span)
  wantWhole(ended)
  expect(ended.figures[0]?.chart).toMatchObject({ stacked: true, series: [{ values: [0, 0, 2] }, { values: [0, 0, 0] }, { values: [0, 0, 0] }] })
  const back = reportFigures.refunds({
    ...head, rows: [1, 2].map(() => ({ date: '2026-03-01', method: 'COUNTER', reason: 'STAFF', state: 'DONE' as const, number: 1, amount: 30 })),
    totals: { done: 60, number: 2, owed: 0, refunded: 60, returned: 0 },
  }, span)
  wantWhole(back)
  expect(back.figures[0]?.chart).toMatchObject({ series: [{ values: [60, 0, 0] }] })
})

test.each([
  [1234, 'number', '1,234'], [0.256, 'share', '25.6%'], [90_000, 'time', '1.5 min'], [null, 'money', '–'], ['', 'text', '–'], ['2026-03-01', 'date', 'Mar 1, 2026'],
] as const)('%j as %s', (value, kind, want) => {
  expect(said(value, kind, 'VND')).toBe(want)
})

test('money is in the currency of the branch, and short beside a chart', () => {
  expect(said(130_000, 'money', 'VND')).toMatch(/130,000/)
  expect(said(1250, 'money', 'USD')).toBe('$12.50')
  expect(brief(1_500_000, 'money', 'VND')).toMatch(/1\.5M/)
  expect(brief(1250, 'money', 'USD')).toBe('$12.5')
})

const colours = { ink: '#000', line: '#111', surface: '#fff', series: ['#a00', '#00a'], heat: ['#fff', '#a00'] as [string, string] }
const words = { title: 'Sales', description: 'by day' }

test('a chart has a description and patterns, and is animated only if the user allows motion', () => {
  const bars = { kind: 'bars', measure: 'number', names: ['a'], series: [{ name: 's', values: [1] }, { name: 'u', values: [2] }] } as const
  const option = optionOf({ ...bars, names: [...bars.names], series: bars.series.map((s) => ({ ...s, values: [...s.values] })) }, 'VND', colours, words, true)
  expect(option).toMatchObject({
    animation: false, aria: { enabled: true, decal: { show: true }, label: { description: 'Sales. by day' } }, tooltip: { renderMode: 'richText' }, legend: { show: true },
  })
})

test('horizontal bars start at the top, and the chart grows with their number', () => {
  const rows = { kind: 'rows' as const, measure: 'money' as const, names: ['a', 'b', 'c'], series: [{ name: 's', values: [3, 2, 1] }] }
  expect(optionOf(rows, 'VND', colours, words, false)).toMatchObject({ animation: true, xAxis: { type: 'value' }, yAxis: { type: 'category', inverse: true } })
  expect(heightOf(rows)).toBeGreaterThan(heightOf({ ...rows, names: ['a'] }) - 1)
  expect(drawable(rows)).toBe(true)
  expect(drawable({ ...rows, series: [{ name: 's', values: [0, null] }] })).toBe(false)
  expect(drawable({ kind: 'heat', measure: 'number', names: [], down: [], cells: [] })).toBe(false)
})

test('the address of a report’s CSV file contains all parameters', () => {
  expect(sheetPath('dishes', { branchId: '7', ...span, locale: 'zh-TW' }))
    .toBe('/api/reports/dishes?branchId=7&from=2026-03-01&to=2026-03-03&locale=zh-TW&format=csv')
})

test('members: the tiles have the last date, the chart each one', () => {
  const day = (date: string, daily: number) => ({ date, daily, weekly: daily + 1, monthly: daily + 2, returning: daily - 1 })
  const s = members({ ...head, days: [day('2026-03-01', 3), day('2026-03-02', 4)] })
  wantWhole(s)
  expect(s.tiles.map((x) => x.value)).toEqual([4, 5, 6, 3])
  expect(s.figures[0]?.chart).toMatchObject({ kind: 'lines', series: [{ values: [5, 6] }, { values: [4, 5] }, { values: [3, 4] }] })
  expect(members({ ...head, days: [] }).tiles).toEqual([])
})
