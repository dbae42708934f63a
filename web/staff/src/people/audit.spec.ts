import { expect, onTestFinished, test, vi } from 'vitest'
import { effectScope } from 'vue'

import { language } from '../shell/i18n'
import { choices, dayBounds, filled, pretty, useActions } from './audit'

const names = import.meta.glob<Record<string, string>>('./actions/*.json', { eager: true, import: 'default' })
const [declared = ''] = Object.values(import.meta.glob<string>('../../../../internal/audit/audit.go', { eager: true, query: '?raw', import: 'default' }))

test.each(['en', 'vi', 'zh-Hant'])('every action has a name of its own in %s, and nothing else has', (l) => {
  const codes = [...declared.matchAll(/^\tAction\w+\s+= "(\w+)"/gm)].map((m) => m[1] ?? '')
  expect(codes.length).toBeGreaterThan(40)
  const actions = names[`./actions/${l}.json`] ?? {}
  expect(Object.keys(actions)).toEqual(codes.sort())
  const texts = Object.values(actions).map((text) => text.trim())
  expect(texts).not.toContain('')
  expect(new Set(texts).size).toBe(texts.length)
})

test('the names of actions follow the language', async () => {
  const scope = effectScope()
  onTestFinished(() => {
    scope.stop()
    language.value = 'en'
  })
  const actions = scope.run(useActions)
  await vi.waitFor(() => { expect(actions?.value?.quota_set).toBe('Daily limit set') })
  language.value = 'vi'
  await vi.waitFor(() => { expect(actions?.value?.quota_set).toBe('Đặt giới hạn mỗi ngày') })
  language.value = 'zh-Hant'
  await vi.waitFor(() => { expect(actions?.value?.quota_set).toBe('設定每日限量') })
})

test('actions are chosen from in the order of their names', () => {
  expect(choices({ a: 'Table cleared', b: 'Account deactivated', c: 'Menu published' }).map((c) => c.value)).toEqual(['b', 'c', 'a'])
})

test('only what is said is asked for', () => {
  expect(filled({ actor: ' user:7 ', action: ' ', subject: '' })).toEqual({ actor: 'user:7' })
})

test('the last day is meant as a whole', () => {
  const { from = '', to = '' } = dayBounds('2026-03-01', '2026-03-01')
  expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000)
  expect(new Date(from).getHours()).toBe(0)
  expect(dayBounds('', '')).toEqual({})
  expect(Object.keys(dayBounds('', '2026-03-01'))).toEqual(['to'])
})

test('nothing is shown as nothing', () => {
  expect(pretty(null)).toBe('')
  expect(pretty({ cap: 3 })).toBe('{\n  "cap": 3\n}')
})
