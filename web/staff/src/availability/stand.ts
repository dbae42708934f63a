import type { components } from '@shared/api/schema'
import { words, type Texts } from '../menu/words'

type Schemas = components['schemas']

export type Stand = Schemas['CatalogBranchAvailability']
export type Counted = Schemas['CatalogItemAvailability']
export type Off = Schemas['CatalogOffItem']
export type Paused = Schemas['CatalogPausedBranch']

/** The availability of an item: 86'd, not on the menu, sold out, running low, enough. */
export type State = 'off' | 'inactive' | 'out' | 'few' | 'enough'

/** Guests see the quantity that is left from this number on. */
export const fewLeft = 5

export function stateOf(i: Counted): State {
  if (i.eightySixedUntil !== null) return 'off'
  if (!i.isActive) return 'inactive'
  if (i.left === null || i.left > fewLeft) return 'enough'
  return i.left === 0 ? 'out' : 'few'
}

/** The filters of the list. */
export type Choice = 'all' | 'scarce' | 'off'

export function chosen(items: readonly Counted[], choice: Choice, part: string): Counted[] {
  const find = part.trim().toLowerCase()
  const wanted: State[] = choice === 'off' ? ['off'] : ['off', 'out', 'few']
  return items.filter((i) =>
    (choice === 'all' || wanted.includes(stateOf(i))) &&
    (find === '' || Object.values(i.names).some((name) => name.toLowerCase().includes(find))))
}

/** Items under their categories, in the order of the menu. */
export function grouped(items: readonly Counted[]): { id: string; name: string; items: Counted[] }[] {
  const groups = new Map<string, { id: string; name: string; items: Counted[] }>()
  for (const i of items) {
    const group = groups.get(i.categoryId) ?? { id: i.categoryId, name: words(i.categoryNames as Texts), items: [] }
    group.items.push(i)
    groups.set(i.categoryId, group)
  }
  return [...groups.values()]
}
