import type { components } from '@shared/api/schema'
import { localized, type Texts } from '../menu/localized'

type Schemas = components['schemas']

export type OptionAvailability = Schemas['CatalogOptionAvailability']
export type ItemAvailability = Schemas['CatalogItemAvailability']
export type OffItem = Schemas['CatalogOffItem']
export type PausedBranch = Schemas['CatalogPausedBranch']

/** Whether guests of a branch have a menu: without a published version, the API answers with the id 0. */
export function hasLiveMenu(a: Pick<Schemas['CatalogBranchAvailability'], 'menuVersionId'>): boolean {
  return a.menuVersionId !== '0'
}

/** The availability of an item: 86'd, not on the menu, sold out, running low, enough. */
export type State = 'off' | 'inactive' | 'out' | 'few' | 'enough'

/** From this quantity downwards, guests see the number of units left. */
const fewLeft = 5

export function stateOf(i: ItemAvailability): State {
  if (i.eightySixedUntil !== null) return 'off'
  if (!i.isActive) return 'inactive'
  if (i.left === null || i.left > fewLeft) return 'enough'
  return i.left === 0 ? 'out' : 'few'
}

/** The figures of an item. One that is 86'd keeps its limit, and no number is left: it is off and not sold out. */
export function figuresOf(i: ItemAvailability): { name: 'cap' | 'sold' | 'held' | 'left'; n: number | null }[] {
  const off = stateOf(i) === 'off'
  const figures = [
    { name: 'cap', n: off ? i.dailyQuota : i.cap } as const, { name: 'sold', n: i.used } as const, { name: 'held', n: i.held } as const,
  ]
  return off ? figures : [...figures, { name: 'left', n: i.left }]
}

/** The filters of the list. */
export type Filter = 'all' | 'scarce' | 'off'

export function filtered(items: readonly ItemAvailability[], choice: Filter, part: string): ItemAvailability[] {
  const find = part.trim().toLowerCase()
  const wanted: State[] = choice === 'off' ? ['off'] : ['off', 'out', 'few']
  return items.filter((i) =>
    (choice === 'all' || wanted.includes(stateOf(i))) &&
    (find === '' || Object.values(i.names).some((name) => name.toLowerCase().includes(find))))
}

/** The options that a filter shows. An option has no limit, so it never runs low. */
export function filteredOptions(options: readonly OptionAvailability[], choice: Filter, part: string): OptionAvailability[] {
  const find = part.trim().toLowerCase()
  return options.filter((o) =>
    (choice === 'all' || (choice === 'off' ? o.eightySixedUntil !== null : !o.isAvailable)) &&
    (find === '' || [o.names, o.groupNames].flatMap((names) => Object.values(names)).some((name) => name.toLowerCase().includes(find))))
}

/** The items grouped by category, in the order of the menu. */
export function grouped(items: readonly ItemAvailability[]): { id: string; name: string; items: ItemAvailability[] }[] {
  const groups = new Map<string, { id: string; name: string; items: ItemAvailability[] }>()
  for (const i of items) {
    const group = groups.get(i.categoryId) ?? { id: i.categoryId, name: localized(i.categoryNames as Texts), items: [] }
    group.items.push(i)
    groups.set(i.categoryId, group)
  }
  return [...groups.values()]
}
