import type { Fault } from '@shared/api/fault'
import type { components } from '@shared/api/schema'
import type { Board } from '../board/boardLayout'
import { lateTickets } from '../board/late'

export type Table = components['schemas']['VisitTable']
export type Party = NonNullable<Table['visit']>

/** The fields of the table dialog. For new tables, the label is a list of labels and ranges. */
export interface TableInput { label: string; seats: number; section: string; isActive: boolean }

/** The states of a table, the most urgent first. */
export const states = ['calling', 'late', 'unpaid', 'seated', 'free', 'unused'] as const
export type State = (typeof states)[number]

/** The most urgent state of a table. `late`: the kitchen should have finished one of its orders. */
export function stateOf(t: Table, late = false): State {
  if (!t.isActive) return 'unused'
  if (!t.visit) return 'free'
  if (t.visit.calls.length > 0) return 'calling'
  if (late) return 'late'
  return t.visit.unpaid > 0 ? 'unpaid' : 'seated'
}

/** The ids of the tables with a late ticket. A label is not an identity: another table may get it before the next answer. */
export function lateTables(board: Pick<Board, 'tickets' | 'thresholds' | 'now'>): Set<string> {
  const late = lateTickets(board.tickets, board.thresholds, Date.parse(board.now))
  return new Set(late.map((ticket) => ticket.tableId).filter((id) => id !== ''))
}

/** The tables in natural order, A2 before A10; tables in use come first. */
export function inOrder(tables: readonly Table[]): Table[] {
  const compare = new Intl.Collator(undefined, { numeric: true }).compare
  return [...tables].sort((a, b) => Number(b.isActive) - Number(a.isActive) || compare(a.label, b.label))
}

export interface Section { name: string; tables: Table[] }

/** The tables by section, in the order of each section's first table. */
export function sectionsOf(tables: readonly Table[]): Section[] {
  const all = new Map<string, Table[]>()
  for (const t of tables) all.set(t.section ?? '', [...(all.get(t.section ?? '') ?? []), t])
  return [...all].map(([name, its]) => ({ name, tables: its }))
}

/** A request to add tables whose answer was lost, with its branch, and the labels in use before it. */
export interface LostAddition { request: string; known: ReadonlySet<string> }

/**
 * Whether a refusal shows that the lost request has added the tables: it names every label of the request, and none of
 * them was in use before. The server adds all tables of a request or none.
 */
export function wasAdded(lost: LostAddition | undefined, request: string, refusal: Fault): boolean {
  const taken = refusal.problem.labels
  return lost?.request === request && refusal.code === 'table_label_taken' && Array.isArray(taken) &&
    taken.length === refusal.problem.requested && taken.every((label) => !lost.known.has(label as string))
}

/** The tables to which guests can be moved. */
export function freeTables(tables: readonly Table[]): Table[] {
  return inOrder(tables).filter((t) => stateOf(t) === 'free')
}
