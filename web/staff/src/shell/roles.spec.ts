import { expect, test } from 'vitest'

import { changeLanguage } from './i18n'
import { roleName } from './roles'

const [declared = ''] = Object.values(import.meta.glob<string>('../../../../internal/authz/role.go', { eager: true, query: '?raw', import: 'default' }))

test.each(['en', 'vi', 'zh-Hant'] as const)('every built-in role has a name of its own in %s', async (l) => {
  await changeLanguage(l)
  const codes = [...declared.matchAll(/^\tRole\w+\s+= "(\w+)"/gm)].map((m) => m[1] ?? '')
  expect(codes.length).toBeGreaterThan(5)
  const names = codes.map(roleName)
  expect(names.filter((name) => codes.includes(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})

test('a role of the restaurant’s own has the name that was typed', async () => {
  await changeLanguage('vi')
  expect(roleName('SHIFT_LEAD')).toBe('SHIFT_LEAD')
})
