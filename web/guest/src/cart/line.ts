/** What a guest means to order of one dish in one manner. Name and price are those that were shown. */
export interface CartLine {
  itemId: string
  qty: number
  notes: string
  name: string
  price: number
}

/** A line with what the menu says of it now. */
export interface ShownLine extends CartLine {
  key: string
  onMenu: boolean
  /** How many of it can be had, of what the lines before it leave. */
  available: number
  /** Nothing of it can be had: it is not charged, and no order goes out with it. */
  gone: boolean
}

/** Two lines of the same dish with different notes stay apart. */
export function keyOf(line: Pick<CartLine, 'itemId' | 'notes'>): string {
  return `${line.itemId} ${line.notes}`
}

/** The server's limits of an order. */
export const mostPerLine = 20
export const mostLines = 50
export const longestNote = 200
