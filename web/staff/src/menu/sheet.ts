import { markRaw } from 'vue'

import { typedAmount, whole } from './figures'
import { filled, type Texts } from './localized'
import type { Category, Line, MenuRows } from './menuEditor'
import { maxQuota, parsePrice } from './prices'

/** A column of the price grid: the name in a language, as `name:vi`, or one of the others. */
export type Column = `name:${string}` | 'category' | 'price' | 'quota'

export type MenuRow = NonNullable<MenuRows['dishes']>[number]

/** A change of one cell's text. */
interface Change {
  dishId: string
  column: Column
  before: string
  after: string
}

/** The maximum number of steps that can be undone. */
const maxSteps = 200

/** The API's limit of a name's length. */
const maxNameLength = 120

/**
 * The editable grid of a draft's dishes, with the changes since the draft was read. Cells contain the typed text, even if
 * it is invalid: the grid then shows the problem and never sends the text.
 */
export class Sheet {
  private cells = new Map<string, Map<Column, string>>()
  private done: Change[][] = []
  private undone: Change[][] = []
  private open: string | undefined // the cell being typed in, which forms one undo step
  private byId: ReadonlyMap<string, Line>

  constructor(
    private lines: readonly Line[], private readonly categories: readonly Category[], readonly locales: readonly string[],
    private readonly currency: string, private readonly nameOf: (names: Texts) => string,
  ) {
    this.byId = indexed(lines)
  }

  get columns(): Column[] {
    return [...this.locales.map((l): Column => `name:${l}`), 'category', 'price', 'quota']
  }

  get canUndo(): boolean {
    return this.done.length > 0
  }

  get canRedo(): boolean {
    return this.undone.length > 0
  }

  text(dishId: string, column: Column): string {
    return this.cells.get(dishId)?.get(column) ?? this.stored(this.line(dishId), column)
  }

  /** The text of a cell in the draft. */
  original(dishId: string, column: Column): string {
    return this.stored(this.line(dishId), column)
  }

  changed(dishId: string, column: Column): boolean {
    return this.text(dishId, column) !== this.original(dishId, column)
  }

  /** Stores the text typed into a cell. Everything typed until `endStep` is one undo step. */
  type(dishId: string, column: Column, text: string): void {
    const cell = `${dishId} ${column}`
    const before = this.text(dishId, column)
    const last = this.done.at(-1)?.[0]
    if (this.open === cell && last) {
      last.after = text
      this.write(dishId, column, text)
      this.undone = []
      if (last.before === text) this.done.pop()
      if (last.before === text) this.open = undefined
      return
    }
    if (before === text) return
    this.step([{ dishId, column, before, after: text }])
    this.open = cell
  }

  endStep(): void {
    this.open = undefined
  }

  /** Pastes a block of cells at a cell, drops the cells beyond the grid, and returns the number of changed cells. */
  paste(rows: readonly string[], dishId: string, column: Column, block: readonly (readonly string[])[]): number {
    const [top, left] = [rows.indexOf(dishId), this.columns.indexOf(column)]
    const changes = block.flatMap((texts, down) => texts.flatMap((text, right) => {
      const [to, at] = [rows[top + down], this.columns[left + right]]
      if (to === undefined || at === undefined) return []
      const before = this.text(to, at)
      return before === text ? [] : [{ dishId: to, column: at, before, after: text }]
    }))
    this.endStep()
    if (changes.length > 0) this.step(changes)
    return changes.length
  }

  /** Undoes the last step and returns its cell. */
  undo(): { dishId: string; column: Column } | undefined {
    this.endStep()
    const step = this.done.pop()
    if (!step) return undefined
    for (const c of step) this.write(c.dishId, c.column, c.before)
    this.undone.push(step)
    return step[0]
  }

  redo(): { dishId: string; column: Column } | undefined {
    this.endStep()
    const step = this.undone.pop()
    if (!step) return undefined
    for (const c of step) this.write(c.dishId, c.column, c.after)
    this.done.push(step)
    return step[0]
  }

  discard(): void {
    this.cells.clear()
    this.done = []
    this.undone = []
    this.endStep()
  }

  /** Drops the edits of saved dishes. Earlier steps can no longer be undone. */
  saved(dishIds: readonly string[]): void {
    for (const id of dishIds) this.cells.delete(id)
    this.done = []
    this.undone = []
    this.endStep()
  }

  /** The reason why a cell cannot be sent, as a code of menu imports; empty for a valid cell. */
  problem(dishId: string, column: Column): string {
    const text = this.text(dishId, column)
    if (!this.changed(dishId, column)) return ''
    if (column === 'price') {
      const read = parsePrice(text, this.currency)
      return typeof read === 'string' ? read : ''
    }
    if (column === 'quota') return whole(text, maxQuota) === undefined ? 'quota_unreadable' : ''
    if (column === 'category') return this.category(text) ? '' : text.trim() === '' ? 'category_missing' : 'category_unknown'
    if (Object.keys(this.names(dishId)).length === 0) return 'name_missing'
    return Array.from(text.trim()).length > maxNameLength ? 'cell_too_long' : ''
  }

  /** The number of cells that differ from the draft. */
  get changes(): number {
    return this.count((id, c) => this.changed(id, c))
  }

  get problems(): number {
    return this.count((id, c) => this.problem(id, c) !== '')
  }

  /** The changed rows for the request. Call it only if there are no problems. */
  rows(): MenuRow[] {
    return this.lines.filter((l) => this.columns.some((c) => this.changed(l.dishId, c))).map((l) => {
      const row: MenuRow = {
        dishId: l.dishId, price: this.changed(l.dishId, 'price') ? Number(parsePrice(this.text(l.dishId, 'price'), this.currency)) : l.price,
        dailyQuota: whole(this.text(l.dishId, 'quota'), maxQuota) ?? null,
        before: { categoryId: l.categoryId, names: l.names, price: l.price, dailyQuota: l.dailyQuota },
      }
      if (this.changed(l.dishId, 'category')) row.categoryId = this.category(this.text(l.dishId, 'category'))?.id ?? l.categoryId
      if (this.locales.some((locale) => this.changed(l.dishId, `name:${locale}`))) row.names = this.names(l.dishId)
      return row
    })
  }

  /**
   * Replaces the draft's lines by newer ones. Edits stay and are compared with the new values. Steps whose undo would restore
   * a value that another user has replaced are dropped.
   */
  rebase(lines: readonly Line[]): void {
    const now = new Map(lines.map((l) => [l.dishId, l]))
    const replaced = (id: string, c: Column) => {
      const after = now.get(id)
      return !after || this.stored(this.line(id), c) !== this.stored(after, c)
    }
    for (const [id, row] of this.cells) {
      for (const [c, text] of row) if (!now.has(id) || text === this.stored(this.line(id), c)) row.delete(c)
    }
    const stays = (step: Change[]) => !step.some((c) => replaced(c.dishId, c.column))
    this.done = this.done.filter(stays)
    this.undone = this.undone.filter(stays)
    this.lines = lines
    this.byId = indexed(lines)
    this.endStep()
  }

  private step(changes: Change[]): void {
    for (const c of changes) this.write(c.dishId, c.column, c.after)
    this.done = [...this.done, changes].slice(-maxSteps)
    this.undone = []
  }

  private write(dishId: string, column: Column, text: string): void {
    const row = this.cells.get(dishId) ?? new Map<Column, string>()
    this.cells.set(dishId, row.set(column, text))
  }

  private line(dishId: string): Line | undefined {
    return this.byId.get(dishId)
  }

  private stored(line: Line | undefined, column: Column): string {
    if (!line) return ''
    if (column === 'price') return typedAmount(line.price, this.currency)
    if (column === 'quota') return line.dailyQuota === null ? '' : String(line.dailyQuota)
    if (column === 'category') return this.nameOf(line.categoryNames)
    return line.names[column.slice('name:'.length)] ?? ''
  }

  private names(dishId: string): Texts {
    const typed = Object.fromEntries(this.locales.map((l) => [l, this.text(dishId, `name:${l}`)]))
    return filled({ ...this.line(dishId)?.names, ...typed })
  }

  /** A category by its name in any language. Of several, one of this menu: other branches may have equal names. */
  private category(text: string): Category | undefined {
    const wanted = text.trim().normalize('NFC').toLowerCase()
    const named = this.categories.filter((h) => Object.values(h.names).some((n) => n.toLowerCase() === wanted))
    return named.find((h) => this.lines.some((l) => l.categoryId === h.id)) ?? named[0]
  }

  private count(has: (dishId: string, column: Column) => boolean): number {
    return [...this.cells].reduce((n, [id, row]) => n + [...row.keys()].filter((c) => has(id, c)).length, 0)
  }
}

/** Lines by dish, not reactive, because they are only read. */
function indexed(lines: readonly Line[]): ReadonlyMap<string, Line> {
  return markRaw(new Map(lines.map((l) => [l.dishId, l])))
}

/** Parses a spreadsheet's clipboard: tabs separate cells, line breaks separate rows, quotes surround texts with either. */
export function cellsOf(clipboard: string): string[][] {
  const rows: string[][] = [[]]
  const cell = /"((?:[^"]|"")*)"(?=\t|\r?\n|$)|([^\t\r\n]*)/y
  let at = 0
  while (at <= clipboard.length) {
    cell.lastIndex = at
    const [whole = '', quoted, plain = ''] = cell.exec(clipboard) ?? []
    const text = quoted === undefined ? plain : quoted.replaceAll('""', '"')
    rows.at(-1)?.push(text.replaceAll(/\s+/g, ' ').trim())
    at += whole.length
    if (clipboard[at] === '\t') at++
    else if (at >= clipboard.length) break
    else {
      at += clipboard.startsWith('\r\n', at) ? 2 : 1
      if (at >= clipboard.length) break // the line end of the last row
      rows.push([])
    }
  }
  return rows
}
