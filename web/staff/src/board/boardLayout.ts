import type { components } from '@shared/api/schema'

type Schemas = components['schemas']

export type Progress = Schemas['OrderingProgress']
export type TicketItem = Schemas['OrderingTicketItem']
export type Ticket = Schemas['OrderingTicket']
export type Awaiting = Schemas['OrderingAwaiting']
export type Board = Schemas['OrderingBoard']

export const columns = ['new', 'preparing', 'ready', 'served'] as const
export type Column = (typeof columns)[number]

export type StepName = 'start' | 'ready' | 'serve'

/** The columns of the board. */
export function columnOf(t: Pick<Ticket, 'status' | 'cleared'>): Column {
  if (t.cleared) return 'served'
  switch (t.status) {
    case 'PREPARING': return 'preparing'
    case 'READY': return 'ready'
    case 'SERVED':
    case 'COMPLETED': return 'served'
    default: return 'new'
  }
}

/** The step that a tap on a ticket's head takes; undefined for a finished ticket. Any step clears a voided ticket. */
export function nextStep(t: Pick<Ticket, 'status' | 'voided' | 'cleared'>): StepName | undefined {
  const column = columnOf(t)
  if (column === 'served') return undefined
  if (t.voided) return 'serve'
  return { new: 'start', preparing: 'ready', ready: 'serve' }[column] as StepName
}

/** Whether a step of a ticket can be undone. It must have been started, and must not be voided before it was served. */
export function canRecall(t: Pick<Ticket, 'status' | 'voided' | 'cleared'>): boolean {
  if (columnOf(t) === 'served') return true
  return t.status !== 'PLACED' && !t.voided
}

/** The waiting time of a ticket in ms, from its payment until it was served, or until now. */
export function ageOf(t: Pick<Ticket, 'status' | 'paidAt' | 'placedAt' | 'stepAt' | 'cleared'>, now: number): number {
  const from = Date.parse(t.paidAt ?? t.placedAt)
  const to = columnOf(t) === 'served' && t.stepAt ? Date.parse(t.stepAt) : now
  return Math.max(0, to - from)
}

export type Urgency = 'fresh' | 'old' | 'late'

/** How urgent an age is. */
export function urgencyOf(age: number, thresholds: Board['thresholds']): Urgency {
  if (age >= thresholds.lateSeconds * 1000) return 'late'
  return age >= thresholds.warnSeconds * 1000 ? 'old' : 'fresh'
}

/** Filters tickets by the lines of a station, and drops tickets without any. An empty station filters nothing. */
export function narrow(tickets: readonly Ticket[], station: string): Ticket[] {
  if (!station) return [...tickets]
  return tickets
    .map((t) => ({ ...t, items: t.items.filter((i) => i.categoryId === station) }))
    .filter((t) => t.items.length > 0)
}

/** The tickets of each column: open ones oldest first, completed ones newest first. */
export function sorted(board: Board, station: string): Record<Column, Ticket[]> {
  const by: Record<Column, Ticket[]> = { new: [], preparing: [], ready: [], served: [] }
  for (const t of narrow([...board.tickets, ...board.served], station)) by[columnOf(t)].push(t)
  const begun = (t: Ticket) => Date.parse(t.paidAt ?? t.placedAt)
  for (const column of ['new', 'preparing', 'ready'] as const) by[column].sort((a, b) => begun(a) - begun(b))
  by.served.sort((a, b) => Date.parse(b.stepAt ?? b.placedAt) - Date.parse(a.stepAt ?? a.placedAt))
  return by
}

/**
 * Distributes the columns that fit on a screen among the states. A state without tickets gets none. Every other state gets
 * one, and the remaining columns go to the states with the most tickets; served tickets get at most one. If there are fewer
 * columns than states, it returns undefined, and the states are shown below one another.
 */
export function spread(fit: number, tickets: Readonly<Record<Column, readonly unknown[]>>): Partial<Record<Column, number>> | undefined {
  const filled = columns.filter((c) => tickets[c].length > 0)
  if (filled.length === 0 || fit < filled.length) return undefined
  const shares: Partial<Record<Column, number>> = Object.fromEntries(filled.map((c) => [c, 1]))
  for (let left = fit - filled.length; left > 0; left--) {
    const open = filled.filter((c) => c !== 'served' && tickets[c].length > (shares[c] ?? 0))
    const load = (c: Column) => tickets[c].length / (shares[c] ?? 1)
    const fullest = open.reduce<Column | undefined>((a, b) => (a === undefined || load(b) > load(a) ? b : a), undefined)
    if (!fullest) break
    shares[fullest] = (shares[fullest] ?? 0) + 1
  }
  return shares
}

/** Tickets to hand over: ready ones, and those whose lines are all done, in the order of the tables. */
export function handovers(board: Board, station: string): Ticket[] {
  const tables = new Intl.Collator(undefined, { numeric: true })
  const begun = (t: Ticket) => Date.parse(t.paidAt ?? t.placedAt)
  return narrow(board.tickets, station)
    .filter((t) => !t.voided && (columnOf(t) === 'ready' || t.items.every((i) => i.done || i.voided)))
    .sort((a, b) => tables.compare(a.tableLabel, b.tableLabel) || begun(a) - begun(b))
}

/** A dish, in one size, that must still be cooked, and how often with each of its other options. */
export type DishCount = Schemas['OrderingDishCount']

/** The quantity of each dish and size that a station still has to cook, the largest first, as the server counts them. */
export function allDay(board: Board, station: string): DishCount[] {
  const most = (a: { name: string; qty: number }, b: { name: string; qty: number }) => b.qty - a.qty || a.name.localeCompare(b.name)
  return board.allDay.filter((c) => !station || c.categoryId === station).sort(most)
}

/** New tickets, which are announced. */
export function arrivals(before: Board | undefined, now: Board, station: string): Ticket[] {
  if (!before) return []
  const known = new Set([...before.tickets, ...before.served].map((t) => t.id))
  return narrow(now.tickets, station).filter((t) => columnOf(t) === 'new' && !known.has(t.id))
}

/** The board with the new state of one ticket from a response. The stream delivers the same later. */
export function moved(board: Board, p: Progress): Board {
  const all = [...board.tickets, ...board.served].map((t) =>
    t.id === p.id && p.version >= t.version ? { ...t, ...p } : t,
  )
  return {
    ...board,
    tickets: all.filter((t) => columnOf(t) !== 'served'),
    served: all.filter((t) => columnOf(t) === 'served'),
  }
}

/** The board after a line was marked as done or not done. */
export function ticked(board: Board, id: string, index: number, done: boolean): Board {
  const items = (t: Ticket) => t.items.map((i) => (i.index === index ? { ...i, done } : i))
  return { ...board, tickets: board.tickets.map((t) => (t.id === id ? { ...t, items: items(t) } : t)) }
}
