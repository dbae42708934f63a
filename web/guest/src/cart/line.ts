/** A dish with its note and quantity. Name and price are those that the guest saw. */
export interface CartLine {
  itemId: string
  qty: number
  notes: string
  name: string
  price: number
}

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

/** Identifies a line. Different notes make different lines. */
export function keyOf(line: Pick<CartLine, 'itemId' | 'notes'>): string {
  return `${line.itemId} ${line.notes}`
}

/** How many of a dish a cart may have, where so many are left. */
export const mostOf = (left: number | null) => Math.min(mostPerLine, left ?? mostPerLine)

/** The server's limits of an order. */
export const mostPerLine = 20
export const mostLines = 50
export const longestNote = 200
