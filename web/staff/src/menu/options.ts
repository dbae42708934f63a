import type { components } from '@shared/api/schema'
import { t } from '../shell/i18n'
import type { Line } from './menuEditor'

type Schemas = components['schemas']

export type LibraryGroup = Schemas['CatalogOptionGroupInfo']
export type LibraryOption = Schemas['CatalogOptionInfo']
export type VersionGroup = Schemas['CatalogLineGroup']
export type VersionOption = Schemas['CatalogLineOption']
/** A group of a dish in a request. */
export type PutGroup = Schemas['CatalogGroupSetting']

export const kinds = ['SIZE', 'CHOICE', 'COMBO'] as const

/** A reason why a draft cannot be published. */
export interface VersionProblem {
  itemId: string
  groupId: string
  code: string
}

/** The option groups of a dish on a menu. */
export function groupsOf(line: Line): VersionGroup[] {
  return line.groups ?? []
}

/** A group on a dish of a menu. */
export interface GroupRow {
  line: Line
  group: VersionGroup
}

/** A group with all dishes of a menu that have it, and the options that at least one of them has. */
export interface GroupUse {
  group: VersionGroup // on the first dish
  options: VersionOption[]
  rows: GroupRow[]
}

/** The groups of a menu with their dishes, in the order of the menu. */
export function usesOf(lines: readonly Line[]): GroupUse[] {
  const uses = new Map<string, GroupUse>()
  for (const line of lines) {
    for (const group of groupsOf(line)) {
      const use = uses.get(group.groupId) ?? { group, options: [], rows: [] }
      use.rows.push({ line, group })
      for (const o of group.options) if (!use.options.some((known) => known.optionId === o.optionId)) use.options.push(o)
      uses.set(group.groupId, use)
    }
  }
  for (const use of uses.values()) use.options.sort((a, b) => a.sort - b.sort)
  return [...uses.values()]
}

/** Identifies a group of a dish. The same group may stand on the dish and below one of its options. */
export function rowKey({ line, group }: GroupRow): string {
  return `${line.itemId} ${group.groupId} ${group.parentOptionId ?? ''}`
}

/** A group as requests contain it. */
export function putOf(group: VersionGroup): PutGroup {
  const { groupId, parentOptionId, min, max, free, maxEach, credit, defaultsCharge } = group
  const options = group.options.map(({ optionId, price, isDefault, isActive }) => ({ optionId, price, isDefault, isActive }))
  return { groupId, ...(parentOptionId ? { parentOptionId } : {}), min, max, free, maxEach, credit, defaultsCharge, options }
}

/** Whether two groups of one dish are the same. */
function sameGroup(a: { groupId: string; parentOptionId?: string | null }, b: { groupId: string; parentOptionId?: string | null }): boolean {
  return a.groupId === b.groupId && (a.parentOptionId ?? null) === (b.parentOptionId ?? null)
}

/** The groups of a dish after one has changed; undefined removes it, with the groups below its options. */
export function withGroup(line: Line, at: VersionGroup, changed: PutGroup | undefined): PutGroup[] {
  const groups = groupsOf(line).flatMap((g) => (sameGroup(g, at) ? changed ?? [] : putOf(g)))
  if (changed) return groups
  const gone = new Set(at.parentOptionId ? [] : at.options.map((o) => o.optionId))
  return groups.filter((g) => !g.parentOptionId || !gone.has(g.parentOptionId))
}

/** The groups of a dish after a group is added below one of its options, or changed there. */
export function withAdded(line: Line, group: PutGroup): PutGroup[] {
  return [...groupsOf(line).filter((g) => !sameGroup(g, group)).map(putOf), group]
}

/** How many options guests can choose, such as "choose 1" or "up to 3", as their phones show it. */
export function ruleText({ min, max, free }: { min: number; max: number | null; free: number }): string {
  return [limits(min, max), free > 0 ? t('menu.rule_first', { count: free }) : ''].filter(Boolean).join(', ')
}

function limits(min: number, max: number | null): string {
  if (min === max) return t('menu.rule_count', { min })
  if (min > 0) return max === null ? t('menu.rule_atLeast', { min }) : t('menu.rule_between', { min, max })
  return max === null ? t('menu.rule_optional') : t('menu.rule_upTo', { max })
}

const known = ['min_above_active', 'defaults_above_max', 'free_unequal_prices', 'free_with_credit', 'combo_contains_itself', 'too_deep', 'size_twice']

/** The text for a problem of a group. */
export function problemText(code: string, group: string): string {
  return t(`menu.incomplete_${known.includes(code) ? code : 'unknown'}`, { group })
}
