import { expect, test } from 'vitest'

import { changed, difference, heldOf, modulesOf, setNames, setsOf } from './matrix'
import { everywhere, nameOf, type Permission } from './people'

const permission = (id: string, module: string, apiPath: string, method = 'GET') => ({ id, module, apiPath, method }) as Permission
const all = [permission('3', 'USERS', '/api/users'), permission('2', 'AUDIT', '/api/audit'), permission('1', 'USERS', '/api/users', 'DELETE')]

test('permissions are grouped by module', () => {
  expect(modulesOf(all).map((m) => [m.name, ...m.permissions.map((p) => p.id)])).toEqual([['AUDIT', '2'], ['USERS', '1', '3']])
})

test.each([
  [[], 'none'], [['1'], 'some'], [['1', '2', '3'], 'all'], [['2'], 'none'],
] as const)('%j of a module', (held, want) => {
  const users = modulesOf(all)[1]
  expect(users && heldOf(users, new Set(held))).toBe(want)
})

test('permissions are grouped by set, without those that every role has', () => {
  const of = (id: string, set: string) => ({ ...permission(id, 'ORDERS', '/api/orders'), set })
  expect(setsOf([of('1', 'MONEY'), of('2', 'VIEW'), of('3', 'MONEY'), of('4', 'OWN')]).map((s) => [s.name, ...s.permissions.map((p) => p.id)]))
    .toEqual([['VIEW', '2'], ['MONEY', '1', '3']])
})

test('every set of the server has a switch with texts', () => {
  const [source = ''] = Object.values(import.meta.glob<string>('../../../../internal/authz/permission.go', { eager: true, query: '?raw', import: 'default' }))
  const [en = {}] = Object.values(import.meta.glob<Record<string, string>>('./texts/en.json', { eager: true, import: 'default' }))
  const sets = [...source.matchAll(/PermissionSet = "([A-Z]+)"/g)].map((m) => m[1])
  expect(sets.filter((s) => s !== 'OWN').sort()).toEqual([...setNames].sort())
  for (const s of setNames) expect([en[`set_${s}`], en[`set_${s}_hint`]], s).not.toContain(undefined)
})

test('a module is granted and revoked as a whole, and other permissions stay', () => {
  const before = new Set(['2'])
  const users = modulesOf(all)[1]?.permissions ?? []
  const given = changed(before, users, true)
  expect([...given].sort()).toEqual(['1', '2', '3'])
  expect([...changed(given, users, false)]).toEqual(['2'])
  expect([...before]).toEqual(['2'])
  expect(difference(before, given)).toBe(2)
  expect(difference(given, given)).toBe(0)
})

test('the display name of a person is the name, else the login', () => {
  const nobody = { firstName: null, surname: null, username: null, email: null, id: '7' }
  expect(nameOf({ ...nobody, firstName: 'Lan', surname: 'Nguyễn', email: 'l@x' })).toBe('Lan Nguyễn')
  expect(nameOf({ ...nobody, username: 'lan', email: 'l@x' })).toBe('lan')
  expect(nameOf(nobody)).toBe('7')
  expect(everywhere('OWNER')).toBe(true)
  expect(everywhere('BARISTA')).toBe(false)
})
