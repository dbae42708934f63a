/** A dish with its note and quantity. Name and price are those that the guest saw. */
export interface CartLine {
  itemId: string
  qty: number
  notes: string
  name: string
  price: number
  // In the cart that the phones of the table share:
  id?: string
  phone?: number // which of them added it, from 1; 0: this one, and the server has not said
  mine?: boolean
}

/** A line of the cart that the phones of the table share. */
export type TableLine = CartLine & Required<Pick<CartLine, 'id' | 'phone' | 'mine'>>

/** A line as a phone's own cart has it. */
export const plain = ({ itemId, qty, notes, name, price }: CartLine): CartLine => ({ itemId, qty, notes, name, price })

/** A line with its state on the current menu. */
export interface ShownLine extends CartLine {
  key: string
  imageUrl: string | null
  onMenu: boolean
  /** The available quantity, after the lines before it. */
  available: number
  /** Sold out: it is not charged, and blocks the order. */
  gone: boolean
}

/** Identifies a line. In a phone's own cart different notes make different lines. */
export function keyOf(line: Pick<CartLine, 'itemId' | 'notes' | 'id'>): string {
  return line.id ?? `${line.itemId} ${line.notes}`
}

/** The lines of a cart by guest: those of this phone first, the others by their numbers. */
export function byGuest(lines: readonly ShownLine[]): { phone: number; mine: boolean; lines: ShownLine[] }[] {
  const guests = new Map<number, { phone: number; mine: boolean; lines: ShownLine[] }>()
  for (const l of lines) {
    const mine = l.mine ?? true
    const phone = mine ? 0 : l.phone ?? 0 // a phone learns its own number with its first answer
    const guest = guests.get(phone) ?? { phone, mine, lines: [] }
    guest.lines.push(l)
    guests.set(phone, guest)
  }
  return [...guests.values()].sort((a, b) => a.phone - b.phone)
}

/** How many of a dish a cart may have, where so many are left. */
export const mostOf = (left: number | null) => Math.min(mostPerLine, left ?? mostPerLine)

/** The server's limits of an order. */
export const mostPerLine = 20
export const mostLines = 50
export const longestNote = 200
