import type { components } from '@shared/api/schema'
import { language } from '../shell/i18n'
import { localized, type Texts } from './localized'

type Schemas = components['schemas']

export type Category = Schemas['CatalogCategoryInfo']
export type Dish = Schemas['CatalogDish']
export type Menu = Schemas['CatalogMenuInfo']
export type Version = Schemas['CatalogVersion']
export type Line = Schemas['CatalogLine']
export type MenuRows = Schemas['CatalogMenuRows']

/** A category with its lines of a menu. */
export interface Part {
  categoryId: string
  names: Texts
  lines: Line[]
}

/** A version's lines grouped by category, in the order of the menu. */
export function partsOf(lines: readonly Line[]): Part[] {
  const parts = new Map<string, Part>()
  for (const line of lines) {
    const part = parts.get(line.categoryId) ?? { categoryId: line.categoryId, names: line.categoryNames, lines: [] }
    part.lines.push(line)
    parts.set(line.categoryId, part)
  }
  return [...parts.values()]
}

/** A change of an item between the live version and a draft. */
export type Difference =
  | { kind: 'added' | 'removed' | 'shown' | 'hidden' | 'options' | 'place'; line: Line }
  | { kind: 'price'; line: Line; before: number }
  | { kind: 'quota'; line: Line; before: number | null }

/** The changes that publishing makes, most visible first: dishes, then prices, then the rest. */
export function differences(before: readonly Line[], after: readonly Line[]): Difference[] {
  const was = new Map(before.map((l) => [l.itemId, l]))
  const found: Difference[] = []
  for (const line of after) {
    const old = was.get(line.itemId)
    was.delete(line.itemId)
    if (old) found.push(...changes(old, line))
    else found.push({ kind: 'added', line })
  }
  found.push(...[...was.values()].map((line): Difference => ({ kind: 'removed', line })))
  const order: Difference['kind'][] = ['added', 'removed', 'shown', 'hidden', 'price', 'options', 'quota', 'place']
  const name = (d: Difference) => localized(d.line.names)
  const byName = new Intl.Collator(language.value).compare
  return found.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || byName(name(a), name(b)))
}

function changes(old: Line, line: Line): Difference[] {
  const found: Difference[] = []
  if (line.isActive !== old.isActive) found.push({ kind: line.isActive ? 'shown' : 'hidden', line })
  if (line.price !== old.price) found.push({ kind: 'price', line, before: old.price })
  if (line.dailyQuota !== old.dailyQuota) found.push({ kind: 'quota', line, before: old.dailyQuota })
  if (JSON.stringify(line.groups ?? []) !== JSON.stringify(old.groups ?? [])) found.push({ kind: 'options', line })
  if (line.sort !== old.sort) found.push({ kind: 'place', line })
  return found
}
