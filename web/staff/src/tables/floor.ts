import type { components } from '@shared/api/schema'

export type Table = components['schemas']['VisitTable']
export type Party = NonNullable<Table['visit']>

export type State = 'calling' | 'unpaid' | 'seated' | 'free' | 'unused'

/** What is most urgent about a table. */
export function stateOf(t: Table): State {
  if (!t.isActive) return 'unused'
  if (!t.visit) return 'free'
  if (t.visit.calls.length > 0) return 'calling'
  return t.visit.unpaid > 0 ? 'unpaid' : 'seated'
}

/** The tables as people count them: A2 before A10; those in use before the others. */
export function inOrder(tables: readonly Table[]): Table[] {
  const compare = new Intl.Collator(undefined, { numeric: true }).compare
  return [...tables].sort((a, b) => Number(b.isActive) - Number(a.isActive) || compare(a.label, b.label))
}

/** Where a party can be taken. */
export function freeTables(tables: readonly Table[]): Table[] {
  return inOrder(tables).filter((t) => stateOf(t) === 'free')
}
