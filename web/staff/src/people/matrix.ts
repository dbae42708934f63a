import type { Permission } from './people'

/** A group of permissions: a module of the product, or a set. */
export interface Module {
  name: string
  permissions: Permission[]
}

/** The permissions by module, sorted by module name, path and method. */
export function modulesOf(all: Permission[]): Module[] {
  const found = new Map<string, Permission[]>()
  for (const p of all) found.set(p.module, [...(found.get(p.module) ?? []), p])
  return [...found].sort(([a], [b]) => a.localeCompare(b))
    .map(([name, permissions]) => ({
      name, permissions: permissions.sort((a, b) => a.apiPath.localeCompare(b.apiPath) || a.method.localeCompare(b.method)),
    }))
}

/** The sets in the order of the page. OWN is left out, because every role has it. */
export const setNames = [
  'VIEW', 'SERVE', 'HANDOVER', 'COOK', 'SELLOUT', 'MONEY', 'RECEIVER', 'MENU', 'STOCK', 'BRANCH', 'REPORTS', 'PEOPLE', 'ADMIN',
] as const

/** The permissions by set. Sets without permissions are left out. */
export function setsOf(all: Permission[]): Module[] {
  return setNames.map((name) => ({ name, permissions: all.filter((p) => p.set === name) })).filter((s) => s.permissions.length > 0)
}

/** Whether all, some or none of a module's permissions are held. */
export function heldOf(m: Module, held: ReadonlySet<string>): 'all' | 'some' | 'none' {
  const n = m.permissions.filter((p) => held.has(p.id)).length
  if (n === 0) return 'none'
  return n === m.permissions.length ? 'all' : 'some'
}

/** The held permissions after some were granted or revoked. */
export function changed(held: ReadonlySet<string>, of: Permission[], on: boolean): Set<string> {
  const next = new Set(held)
  for (const p of of) {
    if (on) next.add(p.id)
    else next.delete(p.id)
  }
  return next
}

/** The permissions of others' changes and of one's own: `held` was made from `before`, and the role has `now` by then. */
export function rebased(now: ReadonlySet<string>, before: ReadonlySet<string>, held: ReadonlySet<string>): Set<string> {
  const next = new Set([...now].filter((id) => held.has(id) || !before.has(id)))
  for (const id of held) if (!before.has(id)) next.add(id)
  return next
}

/** The number of permissions that are in only one of the two collections. */
export function difference(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return [...a].filter((id) => !b.has(id)).length + [...b].filter((id) => !a.has(id)).length
}
