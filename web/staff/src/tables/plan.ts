import type { Table } from './floor'

/** The size of the largest plan, as in the API. */
const maxColumns = 30
export const maxRows = 20

export type Shape = Table['shape']
export const shapes: readonly Shape[] = ['SQUARE', 'ROUND', 'WIDE']

/** A cell of a section's plan. Columns and rows are numbered from 0. */
export interface Cell { column: number; row: number }

/** A table's place, undefined if it is not on the plan, and its shape. */
export interface Spot { cell: Cell | undefined; shape: Shape }

export function spotOf(t: Pick<Table, 'planColumn' | 'planRow' | 'shape'>): Spot {
  const { planColumn: column, planRow: row, shape } = t
  return { cell: column === null || row === null ? undefined : { column, row }, shape }
}

export function sameSpot(a: Spot, b: Spot): boolean {
  return a.shape === b.shape && a.cell?.column === b.cell?.column && a.cell?.row === b.cell?.row
}

/** The width of a table in columns. */
export const widthOf = (shape: Shape) => (shape === 'WIDE' ? 2 : 1)

/** The cells that a table covers. */
export function cellsOf({ cell, shape }: Spot): Cell[] {
  return cell ? Array.from({ length: widthOf(shape) }, (_, i) => ({ column: cell.column + i, row: cell.row })) : []
}

const keyOf = (c: Cell) => `${String(c.column)},${String(c.row)}`

/** The cells that tables cover. */
export class Taken {
  private keys = new Set<string>()

  constructor(spots: Iterable<Spot> = []) {
    for (const s of spots) this.add(s)
  }

  add(spot: Spot): void {
    for (const c of cellsOf(spot)) this.keys.add(keyOf(c))
  }

  /** Whether a table fits into its cells: they are on the plan and free. */
  fits(spot: Spot): boolean {
    return cellsOf(spot).every((c) =>
      c.column >= 0 && c.column < maxColumns && c.row >= 0 && c.row < maxRows && !this.keys.has(keyOf(c)))
  }

  /** The next place of a table in a direction, past the tables in its way; undefined if there is none. */
  next({ cell, shape }: Spot, direction: Cell): Cell | undefined {
    if (!cell) return undefined
    let { column, row } = cell
    for (;;) {
      column += direction.column
      row += direction.row
      if (column < 0 || column >= maxColumns || row < 0 || row >= maxRows) return undefined
      if (this.fits({ cell: { column, row }, shape })) return { column, row }
    }
  }

  /** The first free place for a table, row by row, within a number of columns; undefined for a full plan. */
  first(shape: Shape, columns: number): Cell | undefined {
    for (let row = 0; row < maxRows; row++) {
      for (let column = 0; column <= columns - widthOf(shape); column++) {
        if (this.fits({ cell: { column, row }, shape })) return { column, row }
      }
    }
    return columns < maxColumns ? this.first(shape, maxColumns) : undefined
  }
}

/** The cells that tables cover: columns from `left`, rows from `top`. */
export interface Extent { left: number; top: number; columns: number; rows: number }

export function extentOf(spots: readonly Spot[]): Extent {
  const cells = spots.flatMap(cellsOf)
  if (cells.length === 0) return { left: 0, top: 0, columns: 0, rows: 0 }
  const columns = cells.map((c) => c.column)
  const rows = cells.map((c) => c.row)
  const [left, top] = [Math.min(...columns), Math.min(...rows)]
  return { left, top, columns: Math.max(...columns) - left + 1, rows: Math.max(...rows) - top + 1 }
}

/** The size of the plan to edit: the tables with some free cells around them. */
export function editSize(spots: readonly Spot[]): { columns: number; rows: number } {
  const { left, top, columns, rows } = extentOf(spots)
  const size = (used: number, least: number, most: number) => Math.min(Math.max(used + 3, least), most)
  return { columns: size(left + columns, 12, maxColumns), rows: size(top + rows, 6, maxRows) }
}

export interface Placed { table: Table; cell: Cell; width: number }

/** The tables of a section that its plan shows, and the others. Of two tables in one cell, the plan shows the first. */
export function planOf(tables: readonly Table[]): { placed: Placed[]; unplaced: Table[]; extent: Extent } {
  const taken = new Taken()
  const placed: Placed[] = []
  const unplaced: Table[] = []
  for (const table of tables) {
    const spot = spotOf(table)
    if (spot.cell && taken.fits(spot)) {
      taken.add(spot)
      placed.push({ table, cell: spot.cell, width: widthOf(spot.shape) })
    } else {
      unplaced.push(table)
    }
  }
  return { placed, unplaced, extent: extentOf(placed.map((p) => spotOf(p.table))) }
}

interface Box { left: number; top: number; width: number; height: number }

/** The cell at a point of the screen; undefined outside of the grid. */
export function cellAt(x: number, y: number, grid: Box, size: { columns: number; rows: number }): Cell | undefined {
  const column = Math.floor(((x - grid.left) / grid.width) * size.columns)
  const row = Math.floor(((y - grid.top) / grid.height) * size.rows)
  const inside = column >= 0 && column < size.columns && row >= 0 && row < size.rows
  return inside ? { column, row } : undefined
}
