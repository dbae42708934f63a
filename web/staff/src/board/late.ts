import { ageOf, columnOf, urgencyOf, type Board, type Ticket } from './boardLayout'

/** A late ticket sounds again after this time, in ms, until it is touched. */
const soundAgainAfter = 2 * 60_000

/** Tickets that the kitchen should have finished. Ready ones do not count: they wait for the service. */
export function lateTickets(tickets: readonly Ticket[], thresholds: Board['thresholds'], now: number): Ticket[] {
  return tickets.filter((t) =>
    !t.voided && ['new', 'preparing'].includes(columnOf(t)) && urgencyOf(ageOf(t, now), thresholds) === 'late')
}

/** Stores which late tickets have rung and which were acknowledged. Tickets that have left the board are removed. */
export class LateTickets {
  private sounded = new Map<string, number>()
  private touched = new Set<string>()

  /** Whether a sound is due for the late tickets at a time. */
  due(late: readonly Ticket[], now: number): boolean {
    const ids = new Set(late.map((t) => t.id))
    for (const id of this.sounded.keys()) if (!ids.has(id)) this.sounded.delete(id)
    for (const id of this.touched) if (!ids.has(id)) this.touched.delete(id)
    const due = this.untouched(late).filter((t) => now - (this.sounded.get(t.id) ?? -Infinity) >= soundAgainAfter)
    for (const t of due) this.sounded.set(t.id, now)
    return due.length > 0
  }

  /** The unacknowledged late tickets. */
  untouched(late: readonly Ticket[]): Ticket[] {
    return late.filter((t) => !this.touched.has(t.id))
  }

  touch(ids: readonly string[]): void {
    for (const id of ids) this.touched.add(id)
  }

  get size(): number {
    return this.sounded.size + this.touched.size
  }
}
