import { choicesKey, type Choice, type ChoiceProblem } from '@shared/options'

/** A dish with its options, note and quantity. Name and price, of one unit with its options, are those that the guest saw. */
export interface CartLine {
  itemId: string
  qty: number
  notes: string
  name: string
  price: number
  options?: Choice[] | null // in canonical order; absent without any
  // In a shared cart only:
  id?: string
  phone?: number // number of the phone that added the line, from 1; 0: this phone, whose number the server has not sent yet
  mine?: boolean
}

/** A line of a shared cart. */
export type TableLine = CartLine & Required<Pick<CartLine, 'id' | 'phone' | 'mine'>>

/** A line of a phone's own cart. */
export const plain = ({ itemId, qty, notes, name, price, options }: CartLine): CartLine => ({
  itemId, qty, notes, name, price, ...(options?.length ? { options } : {}),
})

/** A line with its state on the current menu. */
export interface ShownLine extends CartLine {
  key: string
  imageUrl: string | null
  onMenu: boolean
  /** The available quantity, after the lines before it. */
  available: number
  /** Sold out: the line is not charged and blocks the order. */
  gone: boolean
  /** Why its options have to be chosen again. Such a line blocks the order too. */
  problem?: ChoiceProblem | undefined
  /** Whether its dish has options now. */
  optional?: boolean
  dishId?: string // of a member's line
}

/** Identifies a line. In a phone's own cart, a dish has one line per choice of options and note. */
export function keyOf(line: Pick<CartLine, 'itemId' | 'notes' | 'options' | 'id'>): string {
  return line.id ?? `${wishOf(line)} ${line.notes}`
}

/** Identifies a dish with its options. */
export function wishOf(line: Pick<CartLine, 'itemId' | 'options'>): string {
  return line.itemId + (line.options?.length ? `:${choicesKey(line.options)}` : '')
}

/** Whether a line cannot be ordered as it is. */
export function isBlocked(line: Pick<ShownLine, 'qty' | 'available' | 'problem'>): boolean {
  return line.qty > line.available || line.problem !== undefined
}

/** The lines of a cart by guest: those of this phone first, the others by their numbers. */
export function byGuest(lines: readonly ShownLine[]): { phone: number; mine: boolean; lines: ShownLine[] }[] {
  const guests = new Map<number, { phone: number; mine: boolean; lines: ShownLine[] }>()
  for (const l of lines) {
    const mine = l.mine ?? true
    const phone = mine ? 0 : l.phone ?? 0 // the first answer of the server contains this phone's number
    const guest = guests.get(phone) ?? { phone, mine, lines: [] }
    guest.lines.push(l)
    guests.set(phone, guest)
  }
  return [...guests.values()].sort((a, b) => a.phone - b.phone)
}

/** The maximum quantity of a dish in a cart, for a number of units left. */
export const maxInCart = (left: number | null) => Math.min(maxPerLine, left ?? maxPerLine)

/** The server's limits of an order. */
export const maxPerLine = 20
export const maxLines = 50
export const maxNoteLength = 200
