import type { components } from '@shared/api/schema'
import { fullName } from '@shared/names'
import { api } from '../shell/session'

type Schemas = components['schemas']

export type Account = Schemas['Account']
export type Role = Schemas['AuthzRole']
export type Permission = Schemas['AuthzPermission']
export type Entry = Schemas['AuditEntry']

/** The maximum page size of the API. */
const size = 100

/** A person's display name: the name, else the login. */
export function nameOf(a: Pick<Account, 'firstName' | 'surname' | 'username' | 'email' | 'id'>): string {
  return fullName(a) || a.username || a.email || a.id
}

/** Whether users of a role are assigned to no branch, because the role covers all branches or is that of members. */
export function everywhere(role: string): boolean {
  return ['OWNER', 'ADMIN', 'USER'].includes(role)
}

/** All roles. They always fit into one page. */
export const askRoles = () => api.GET('/api/roles', { params: { query: { size } } })

/** All permissions, read page by page. */
export async function askPermissions() {
  const page = (n: number) => api.GET('/api/permissions', { params: { query: { page: n, size } } })
  const first = await page(1)
  if (!first.data) return first
  for (let n = 2; first.data.items.length < first.data.total; n++) {
    const next = await page(n)
    if (!next.data || next.data.items.length === 0) return next
    first.data.items.push(...next.data.items)
  }
  return first
}
