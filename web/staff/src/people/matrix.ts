import type { Permission } from './people'

/** The permissions of one part of the product, each in its place. */
export interface Module {
  name: string
  permissions: Permission[]
}

/** The permissions by modules, both in the order of their names. */
export function modulesOf(all: Permission[]): Module[] {
  const found = new Map<string, Permission[]>()
  for (const p of all) found.set(p.module, [...(found.get(p.module) ?? []), p])
  return [...found].sort(([a], [b]) => a.localeCompare(b))
    .map(([name, permissions]) => ({
      name, permissions: permissions.sort((a, b) => a.apiPath.localeCompare(b.apiPath) || a.method.localeCompare(b.method)),
    }))
}

/** The sets in the order in which people read them. What every role has, OWN, is none of them. */
export const setNames = [
  'VIEW', 'SERVE', 'HANDOVER', 'COOK', 'SELLOUT', 'MONEY', 'RECEIVER', 'MENU', 'STOCK', 'BRANCH', 'REPORTS', 'PEOPLE', 'ADMIN',
] as const

/** The permissions by the sets that people grant as one, as far as there are any. */
export function setsOf(all: Permission[]): Module[] {
  return setNames.map((name) => ({ name, permissions: all.filter((p) => p.set === name) })).filter((s) => s.permissions.length > 0)
}

/** How much of a module is held. */
export function heldOf(m: Module, held: ReadonlySet<string>): 'all' | 'some' | 'none' {
  const n = m.permissions.filter((p) => held.has(p.id)).length
  if (n === 0) return 'none'
  return n === m.permissions.length ? 'all' : 'some'
}

/** The permissions after one, or all of a module, were granted or revoked. */
export function changed(held: ReadonlySet<string>, of: Permission[], on: boolean): Set<string> {
  const next = new Set(held)
  for (const p of of) {
    if (on) next.add(p.id)
    else next.delete(p.id)
  }
  return next
}

/** How many permissions are in one of the sets only. */
export function difference(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return [...a].filter((id) => !b.has(id)).length + [...b].filter((id) => !a.has(id)).length
}
