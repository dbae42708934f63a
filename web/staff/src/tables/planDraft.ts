import { sectionsOf, type Section, type Table } from './floor'
import { sameSpot, spotOf, Taken, type Cell, type Shape, type Spot } from './plan'

/** The maximum number of steps that can be undone. */
const maxSteps = 200

/** The number of columns that `arrange` fills first. */
const arrangedColumns = 8

/** A table in a request to save the plan. */
export interface Edit { tableId: string; planColumn: number | null; planRow: number | null; shape: Shape }

/** The changes of a plan that are not saved yet. */
export class PlanDraft {
  private stored: ReadonlyMap<string, Table>
  private changes = new Map<string, Spot>()
  private steps: Map<string, Spot>[] = [] // the changes before each step

  constructor(tables: readonly Table[]) {
    this.stored = new Map(tables.map((t) => [t.id, t]))
  }

  /** The number of tables that differ from the stored plan. */
  get changed(): number {
    return this.changes.size
  }

  get canUndo(): boolean {
    return this.steps.length > 0
  }

  /** The tables with their changes, by section. */
  get sections(): Section[] {
    return sectionsOf([...this.stored.values()].map((t) => {
      const { cell, shape } = this.spot(t.id)
      return { ...t, planColumn: cell?.column ?? null, planRow: cell?.row ?? null, shape }
    }))
  }

  spot(id: string): Spot {
    return this.changes.get(id) ?? this.storedSpot(id)
  }

  /** Whether a table fits into a place on the plan of its section. */
  fits(id: string, spot: Spot): boolean {
    return this.takenAround(id).fits(spot)
  }

  /** Puts a table into a place, or takes it off the plan. It reports whether that is possible. */
  put(id: string, cell: Cell | undefined): boolean {
    return this.change(id, { ...this.spot(id), cell })
  }

  /** Moves a table to the next free place in a direction. A table that is not on the plan gets the first free place. */
  step(id: string, direction: Cell): boolean {
    const { cell, shape } = this.spot(id)
    const taken = this.takenAround(id)
    const to = cell ? taken.next({ cell, shape }, direction) : taken.first(shape, arrangedColumns)
    return to !== undefined && this.put(id, to)
  }

  /** Changes the shape of a table. A wide one that does not fit where it stands moves to the next free place in its row. */
  reshape(id: string, shape: Shape): boolean {
    const { cell } = this.spot(id)
    if (this.change(id, { cell, shape })) return true
    const to = this.takenAround(id).next({ cell, shape }, { column: 1, row: 0 }) ?? this.takenAround(id).next({ cell, shape }, { column: -1, row: 0 })
    return to !== undefined && this.change(id, { cell: to, shape })
  }

  /** Puts all tables of a section that are not on the plan into free places, in one step. */
  arrange(section: Section): void {
    const before = new Map(this.changes)
    const taken = this.takenIn(section.name)
    for (const { id } of section.tables) {
      const { cell, shape } = this.spot(id)
      const to = cell ? undefined : taken.first(shape, arrangedColumns)
      if (!to) continue
      this.write(id, { cell: to, shape })
      taken.add({ cell: to, shape })
    }
    this.remember(before)
  }

  undo(): void {
    const before = this.steps.pop()
    if (!before) return
    this.changes = new Map(before)
    this.settle()
  }

  /** The changed tables for the request. */
  edits(): Edit[] {
    return [...this.changes].map(([tableId, { cell, shape }]) => ({
      tableId, planColumn: cell?.column ?? null, planRow: cell?.row ?? null, shape,
    }))
  }

  /**
   * Replaces the stored tables by newer ones. Changes stay, except those of tables that have moved to another section. A table
   * whose place has been taken in the meantime is taken off the plan; the labels of these tables are returned.
   */
  rebase(tables: readonly Table[]): string[] {
    const before = this.stored
    this.stored = new Map(tables.map((t) => [t.id, t]))
    for (const changes of [this.changes, ...this.steps]) {
      for (const id of [...changes.keys()]) {
        const now = this.stored.get(id)
        if (!now || now.section !== before.get(id)?.section) changes.delete(id)
      }
    }
    return this.settle()
  }

  /** Takes changed tables off the plan whose place is taken, and drops changes without effect. */
  private settle(): string[] {
    const lost: string[] = []
    for (const [id, spot] of [...this.changes]) {
      const table = this.stored.get(id)
      if (!table || sameSpot(spot, spotOf(table))) {
        this.changes.delete(id)
      } else if (spot.cell && !this.fits(id, spot)) {
        this.write(id, { ...spot, cell: undefined })
        lost.push(table.label)
      }
    }
    return lost
  }

  private change(id: string, spot: Spot): boolean {
    if (spot.cell && !this.fits(id, spot)) return false
    const before = new Map(this.changes)
    this.write(id, spot)
    this.remember(before)
    return true
  }

  private write(id: string, spot: Spot): void {
    if (sameSpot(spot, this.storedSpot(id))) this.changes.delete(id)
    else this.changes.set(id, spot)
  }

  /** Adds an undo step, unless nothing has changed. */
  private remember(before: Map<string, Spot>): void {
    const ids = new Set([...before.keys(), ...this.changes.keys()])
    const same = [...ids].every((id) => sameSpot(before.get(id) ?? this.storedSpot(id), this.spot(id)))
    if (!same) this.steps = [...this.steps, before].slice(-maxSteps)
  }

  private storedSpot(id: string): Spot {
    const table = this.stored.get(id)
    return table ? spotOf(table) : { cell: undefined, shape: 'SQUARE' }
  }

  /** The cells that the other tables of a table's section cover. */
  private takenAround(id: string): Taken {
    return this.takenIn(this.stored.get(id)?.section ?? '', id)
  }

  private takenIn(section: string, except = ''): Taken {
    const others = [...this.stored.values()].filter((t) => t.id !== except && (t.section ?? '') === section)
    return new Taken(others.map((t) => this.spot(t.id)))
  }
}
