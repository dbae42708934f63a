import type { components } from './schema'

export type Problem = components['schemas']['Problem']

/** A line of an order whose item has too few units left. */
export interface Shortage {
  itemId: string
  optionId?: string // if one of its options is sold out
  requested: number
  available: number
}

/** A dish whose chosen options are refused, and the option if it is known. */
export type RefusedOption = Pick<Shortage, 'itemId' | 'optionId'>

/** A failed request. `code` is the server's problem code, or `offline` without an answer. */
export class Fault extends Error {
  constructor(
    readonly code: string,
    readonly status = 0,
    readonly problem: Partial<Problem> & Record<string, unknown> = {},
    readonly retryAfter = 0, // seconds; 0: not specified by the server
  ) {
    super(problem.detail ?? code)
    this.name = 'Fault'
  }

  /** Whether the same request may succeed later. Until then its outcome is unknown. */
  get passing(): boolean {
    return this.status === 0 || this.status >= 500 || this.status === 429
  }

  /** The lines of a `sold_out` answer. */
  get lines(): Shortage[] {
    const lines = this.problem.lines
    return Array.isArray(lines) ? (lines as Shortage[]) : []
  }

  /** The dishes whose chosen options the server refuses: unknown, too few, too many or sold out. */
  get refusedOptions(): RefusedOption[] {
    if (this.code === 'sold_out') return this.lines.filter((l) => l.optionId)
    const { itemId, optionId } = this.problem
    if (!['option_unknown', 'options_invalid'].includes(this.code) || typeof itemId !== 'string') return []
    return [{ itemId, ...(typeof optionId === 'string' && { optionId }) }]
  }

  /** The current price of the order in a `price_changed` answer. */
  get currentTotal(): number | undefined {
    const total = this.problem.currentTotal
    return typeof total === 'number' ? total : undefined
  }
}

export function isFault(e: unknown, ...codes: string[]): e is Fault {
  return e instanceof Fault && (codes.length === 0 || codes.includes(e.code))
}
