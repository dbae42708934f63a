import { expect, onTestFinished, test, vi } from 'vitest'
import { effectScope } from 'vue'

import { language } from '../shell/i18n'
import { moduleName, permissionName, purpose, useWording, type Wording } from './wording'

const wordings = import.meta.glob<Wording>('./permissions/*.json', { eager: true, import: 'default' })
const [openapi = ''] = Object.values(import.meta.glob<string>('../../../../docs/openapi.yaml', { eager: true, query: '?raw', import: 'default' }))
const rooms = import.meta.glob<string>(['../../../../internal/{app,web,*/*http}/*.go', '!**/*_test.go'], { eager: true, query: '?raw', import: 'default' })
const [delivered = ''] = Object.values(import.meta.glob<string>('../../../../internal/authz/role.go', { eager: true, query: '?raw', import: 'default' }))

// Which routes are permissions: see Policy.Permitted in internal/httpapi.
const permitted = ['staff', 'admin', 'member']

/** The permissions in openapi.yaml, with their modules. */
function documented(): [key: string, module: string][] {
  const found: [string, string][] = []
  const operations = openapi.matchAll(/^ {2}(\/\S*):$|^ {4}(get|put|post|patch|delete):\n((?: {5,}.*\n| *\n)+)/gm)
  let path = ''
  for (const [, p, method, body = ''] of operations) {
    path = p ?? path
    const policy = /^ {6}x-policy: (\w+)$/m.exec(body)?.[1]
    const module = /^ {6}tags:\n {8}- (.+)$/m.exec(body)?.[1]
    if (method && module && policy && permitted.includes(policy)) found.push([`${method.toUpperCase()} ${path}`, module.toUpperCase()])
  }
  return found
}

/** The permissions of routes without JSON, which openapi.yaml does not contain. */
function plain(): [key: string, module: string][] {
  return Object.values(rooms).flatMap((source) =>
    [...source.matchAll(/Pattern: "([A-Z]+ \S+)",\s+Policy: httpapi\.(?:Staff|Admin|Member),\s+Module: "(\w+)"/g)]
      .map(([, key = '', module = '']): [string, string] => [key, module]))
}

const permissions = [...documented(), ...plain()]

test('every permission has a translation', () => {
  expect(documented()).toHaveLength(openapi.match(/^ {6}x-policy: (staff|admin|member)$/gm)?.length ?? 0)
  expect(plain()).toHaveLength(Object.values(rooms).flatMap((s) => s.match(/Policy:\s+httpapi\.(Staff|Admin|Member)\b/g) ?? []).length)
  expect(permissions).toContainEqual(['GET /api/audit', 'AUDIT'])
  expect(permissions).toContainEqual(['POST /api/images', 'MENUS'])
  expect(permissions.length).toBeGreaterThan(100)
})

test.each(['vi', 'zh-Hant'])('%s has exactly the texts of all modules, permissions and roles', (l) => {
  const wording = wordings[`./permissions/${l}.json`]
  const descriptions = [...delivered.matchAll(/\{Name: Role\w+, Description: "([^"]+)"\}/g)].map((m) => m[1] ?? '')
  expect(descriptions).toHaveLength(7)
  expect(wording && Object.keys(wording.modules)).toEqual([...new Set(permissions.map(([, module]) => module))].sort())
  expect(wording && Object.keys(wording.permissions)).toEqual(permissions.map(([key]) => key).sort())
  expect(wording && Object.keys(wording.roles)).toEqual(descriptions.sort())
  for (const texts of Object.values(wording ?? {}) as Record<string, string>[]) {
    for (const [key, text] of Object.entries(texts)) expect(text.trim(), key).not.toBe('')
  }
})

const audit = { method: 'GET', apiPath: '/api/audit', name: 'Who has changed what, the newest first' }
const wording = { modules: { AUDIT: '稽核紀錄' }, permissions: { 'GET /api/audit': '查看稽核紀錄' }, roles: { 'Takes money.': '收款。' } }

test('a permission has its translated name', () => {
  expect(permissionName(audit, wording)).toEqual({ text: '查看稽核紀錄' })
  expect(moduleName('AUDIT', wording)).toBe('稽核紀錄')
})

test('a permission without a translation has the server’s name', () => {
  expect(permissionName(audit)).toEqual({ text: audit.name, lang: 'en' })
  expect(permissionName({ ...audit, method: 'POST' }, wording)).toEqual({ text: audit.name, lang: 'en' })
  expect(moduleName('AUDIT')).toBe('AUDIT')
  expect(moduleName('LOYALTY', wording)).toBe('LOYALTY')
})

test.each([
  ['Takes money.', true, '收款。'], ['Takes money, and tips.', true, 'Takes money, and tips.'], ['Takes money.', false, 'Takes money.'],
])('a role with the description %j, built in: %j, shows %j', (description, isDelivered, want) => {
  expect(purpose({ description, isDelivered }, wording)).toBe(want)
  expect(purpose({ description, isDelivered })).toBe(description)
})

test('a built-in role of an earlier release has the current description', () => {
  const role = { description: 'Takes money and cancels orders.', isDelivered: true }
  expect(purpose(role)).toBe('Takes payments and cancels orders.')
  expect(purpose(role, wordings['./permissions/vi.json'])).toBe('Thu tiền và hủy đơn.')
  expect(purpose({ ...role, isDelivered: false })).toBe(role.description)
})

test('the wording follows the language', async () => {
  const scope = effectScope()
  onTestFinished(() => { scope.stop() })
  const followed = scope.run(useWording)
  expect(followed?.value).toBeUndefined()
  language.value = 'vi'
  await vi.waitFor(() => { expect(followed?.value?.modules.STOCK).toBe('Kho') })
  language.value = 'zh-Hant'
  await vi.waitFor(() => { expect(followed?.value?.modules.STOCK).toBe('庫存') })
  language.value = 'en'
  await vi.waitFor(() => { expect(followed?.value).toBeUndefined() })
})
