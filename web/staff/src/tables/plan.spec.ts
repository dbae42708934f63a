import { expect, test } from 'vitest'

import type { Table } from './floor'
import { cellAt, cellsOf, editSize, extentOf, planOf, Taken, type Cell, type Shape, type Spot } from './plan'
import { PlanDraft } from './planDraft'

const at = (column: number, row: number): Cell => ({ column, row })
const spot = (column: number, row: number, shape: Shape = 'SQUARE'): Spot => ({ cell: at(column, row), shape })

/** A table, such as `A1` without a place, or `A2 3,1 WIDE Terrace`. */
function table(text: string): Table {
  const [label = '', place = '-', shape = 'SQUARE', section] = text.split(' ')
  const [planColumn = null, planRow = null] = place === '-' ? [] : place.split(',').map(Number)
  return { id: label, label, shape, planColumn, planRow, ...(section ? { section } : {}) } as Table
}
const tables = (...texts: string[]) => texts.map(table)

/** The places of a draft, such as `A1 0,0` and `A2 -`. */
const places = (d: PlanDraft, ...ids: string[]) => ids.map((id) => {
  const { cell } = d.spot(id)
  return `${id} ${cell ? `${String(cell.column)},${String(cell.row)}` : '-'}`
}).join(' ')

test('a wide table covers two cells', () => {
  expect(cellsOf(spot(1, 2))).toEqual([at(1, 2)])
  expect(cellsOf(spot(1, 2, 'WIDE'))).toEqual([at(1, 2), at(2, 2)])
  expect(cellsOf({ cell: undefined, shape: 'WIDE' })).toEqual([])
})

test('a table fits into free cells of the plan', () => {
  const taken = new Taken([spot(1, 0, 'WIDE'), { cell: undefined, shape: 'ROUND' }])
  expect(taken.fits(spot(0, 0))).toBe(true)
  expect(taken.fits(spot(0, 0, 'WIDE'))).toBe(false)
  expect(taken.fits(spot(2, 0))).toBe(false)
  expect(taken.fits(spot(3, 0, 'WIDE'))).toBe(true)
  expect(taken.fits(spot(29, 19))).toBe(true)
  expect(taken.fits(spot(29, 19, 'WIDE'))).toBe(false)
  expect(taken.fits(spot(0, 20))).toBe(false)
  expect(taken.fits(spot(-1, 0))).toBe(false)
})

test('a table steps past the tables in its way', () => {
  const taken = new Taken([spot(1, 0, 'WIDE')])
  expect(taken.next(spot(0, 0), at(1, 0))).toEqual(at(3, 0))
  expect(taken.next(spot(0, 0), at(0, 1))).toEqual(at(0, 1))
  expect(taken.next(spot(0, 0), at(-1, 0))).toBeUndefined()
  expect(taken.next(spot(3, 0, 'WIDE'), at(-1, 0))).toBeUndefined()
  expect(taken.next({ cell: undefined, shape: 'SQUARE' }, at(1, 0))).toBeUndefined()
})

test('the first free place is found row by row', () => {
  expect(new Taken().first('SQUARE', 2)).toEqual(at(0, 0))
  expect(new Taken([spot(0, 0)]).first('WIDE', 2)).toEqual(at(0, 1))
  const rows = Array.from({ length: 20 }, (_, row) => spot(0, row))
  expect(new Taken(rows).first('SQUARE', 1)).toEqual(at(1, 0)) // further right if these columns are full
  const everywhere = Array.from({ length: 600 }, (_, i) => spot(i % 30, Math.floor(i / 30)))
  expect(new Taken(everywhere).first('SQUARE', 8)).toBeUndefined()
})

test('a plan shows the part with tables, and to edit some free cells around them', () => {
  expect(extentOf([spot(2, 1), spot(4, 3, 'WIDE')])).toEqual({ left: 2, top: 1, columns: 4, rows: 3 })
  expect(extentOf([])).toEqual({ left: 0, top: 0, columns: 0, rows: 0 })
  expect(editSize([])).toEqual({ columns: 12, rows: 6 })
  expect(editSize([spot(11, 6)])).toEqual({ columns: 15, rows: 10 })
  expect(editSize([spot(29, 19)])).toEqual({ columns: 30, rows: 20 })
})

test('of two tables in one cell, the plan shows the first', () => {
  const { placed, unplaced, extent } = planOf(tables('A1 2,2', 'A2 1,2 WIDE', 'A3', 'A4 3,2 ROUND'))
  expect(placed.map((p) => `${p.table.label} ${String(p.width)}`)).toEqual(['A1 1', 'A4 1'])
  expect(unplaced.map((t) => t.label)).toEqual(['A2', 'A3'])
  expect(extent).toEqual({ left: 2, top: 2, columns: 2, rows: 1 })
})

test('a point of the screen is in a cell', () => {
  const grid = { left: 100, top: 50, width: 200, height: 100 }
  const size = { columns: 4, rows: 2 }
  expect(cellAt(100, 50, grid, size)).toEqual(at(0, 0))
  expect(cellAt(249, 101, grid, size)).toEqual(at(2, 1))
  expect(cellAt(299, 149, grid, size)).toEqual(at(3, 1))
  for (const [x, y] of [[99, 60], [300, 60], [110, 49], [110, 150]] as const) expect(cellAt(x, y, grid, size)).toBeUndefined()
})

test('changes are undone, and only differences are saved', () => {
  const d = new PlanDraft(tables('A1 0,0', 'A2 1,0 ROUND', 'A3', 'T1 0,0 SQUARE Terrace'))
  expect(d.put('A3', at(0, 0))).toBe(false) // taken
  expect(d.canUndo).toBe(false)
  expect(d.put('T1', at(1, 0))).toBe(true) // another section
  expect(d.step('A1', at(1, 0))).toBe(true)
  expect(d.step('A3', at(0, 1))).toBe(true)
  expect(places(d, 'A1', 'A2', 'A3', 'T1')).toBe('A1 2,0 A2 1,0 A3 0,0 T1 1,0')
  expect(d.changed).toBe(3)
  d.undo()
  expect(places(d, 'A1', 'A3')).toBe('A1 2,0 A3 -')
  expect(d.put('A1', undefined)).toBe(true)
  expect(d.put('T1', at(0, 0))).toBe(true) // as it was
  expect(d.edits()).toEqual([{ tableId: 'A1', planColumn: null, planRow: null, shape: 'SQUARE' }])
  expect(d.put('A1', undefined)).toBe(true) // nothing to undo
  for (let n = 0; n < 4; n++) d.undo()
  expect(d.changed).toBe(0)
  expect(d.canUndo).toBe(false)
  d.undo()
  expect(d.sections.map((s) => s.name)).toEqual(['', 'Terrace'])
})

test('a table that becomes wide moves if it must', () => {
  const d = new PlanDraft(tables('A1 0,0', 'A2 1,0', 'A3 0,1'))
  expect(d.reshape('A1', 'WIDE')).toBe(true)
  expect(d.reshape('A3', 'WIDE')).toBe(true)
  expect(places(d, 'A1', 'A3')).toBe('A1 2,0 A3 0,1')
  d.undo()
  d.undo()
  expect(d.edits()).toEqual([])
  const full = new PlanDraft(Array.from({ length: 30 }, (_, i) => table(`A${String(i)} ${String(i)},0`)))
  expect(full.reshape('A3', 'WIDE')).toBe(false)
  expect(full.changed).toBe(0)
})

test('all tables of a section are placed in one step', () => {
  const d = new PlanDraft(tables('A1 1,0', 'A2', 'A3 - WIDE', 'A4', 'T1 - SQUARE Terrace'))
  const [inside] = d.sections
  if (inside) d.arrange(inside)
  expect(places(d, 'A1', 'A2', 'A3', 'A4', 'T1')).toBe('A1 1,0 A2 0,0 A3 2,0 A4 4,0 T1 -')
  d.undo()
  expect(d.changed).toBe(0)
})

test('changes stay when others save, and a place that was taken is given up', () => {
  const d = new PlanDraft(tables('A1 0,0', 'A2', 'A3', 'A4', 'A5'))
  d.put('A2', at(1, 0))
  d.put('A3', at(2, 0))
  d.put('A4', at(3, 0))
  d.put('A5', at(4, 0))
  const now = tables('A1 1,0', 'A2', 'A3 2,0', 'A4 0,0 SQUARE Terrace')
  expect(d.rebase(now)).toEqual(['A2'])
  expect(places(d, 'A1', 'A2', 'A3', 'A4')).toBe('A1 1,0 A2 - A3 2,0 A4 0,0')
  expect(d.edits()).toEqual([]) // A3 is where it should be; A4 is in another section; A5 is gone
  expect(d.rebase(now)).toEqual([])
  while (d.canUndo) d.undo() // never back into a taken place
  expect(places(d, 'A1', 'A2', 'A3', 'A4')).toBe('A1 1,0 A2 - A3 2,0 A4 0,0')
})
