/** An entry of a list that users sort. */
export interface Sortable {
  id: string
  sort: number
}

/**
 * Returns the entries whose sort numbers change when one entry moves up (-1) or down (1). Usually two entries swap their
 * numbers. If entries share a number, all are renumbered. At the ends of the list nothing changes.
 */
export function moved(all: readonly Sortable[], id: string, by: -1 | 1): Sortable[] {
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
