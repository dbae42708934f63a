/** Something that has a place among others. */
export interface Placed {
  id: string
  sort: number
}

/**
 * The places that change when something goes one up (-1) or down (1) in a list. Two change as a rule; where several had
 * the same place, all are numbered anew. Nothing changes at the ends.
 */
export function moved(all: readonly Placed[], id: string, by: -1 | 1): Placed[] {
  const from = all.findIndex((p) => p.id === id)
  const [one, other] = [all[from], all[from + by]]
  if (!one || !other) return []
  if (all.every((p, n) => n === 0 || p.sort > (all[n - 1]?.sort ?? 0))) {
    return [{ id: one.id, sort: other.sort }, { id: other.id, sort: one.sort }]
  }
  const order = [...all]
  order[from] = other
  order[from + by] = one
  return order.map((p, n) => ({ id: p.id, sort: n + 1, was: p.sort })).filter((p) => p.sort !== p.was).map(({ id: i, sort }) => ({ id: i, sort }))
}
