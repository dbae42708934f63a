import { expect, onTestFinished, test, vi } from 'vitest'
import { effectScope } from 'vue'

import { changeLanguage, language } from '../shell/i18n'
import { actorOf, choices, dayBounds, filled, pretty, sentenceOf, subjectOf, useActions } from './audit'

const names = import.meta.glob<Record<string, string>>('./actions/*.json', { eager: true, import: 'default' })
const sentences = import.meta.glob<Record<string, string>>('./sentences/*.json', { eager: true, import: 'default' })
const [declared = ''] = Object.values(import.meta.glob<string>('../../../../internal/audit/audit.go', { eager: true, query: '?raw', import: 'default' }))

test.each(['en', 'vi', 'zh-Hant'])('%s has exactly one distinct name for each action', (l) => {
  const codes = [...declared.matchAll(/^\tAction\w+\s+= "(\w+)"/gm)].map((m) => m[1] ?? '')
  expect(codes.length).toBeGreaterThan(40)
  const actions = names[`./actions/${l}.json`] ?? {}
  expect(Object.keys(actions)).toEqual(codes.sort())
  const texts = Object.values(actions).map((text) => text.trim())
  expect(texts).not.toContain('')
  expect(new Set(texts).size).toBe(texts.length)
})

test.each(['en', 'vi', 'zh-Hant'])('%s has a sentence for each action', (l) => {
  const all = sentences[`./sentences/${l}.json`] ?? {}
  expect(Object.keys(all)).toEqual(Object.keys(names[`./actions/${l}.json`] ?? {}))
  const placeholders = (text = '') => [...text.matchAll(/\{\w+\}/g)].map((m) => m[0]).sort()
  for (const [code, text] of Object.entries(all)) expect(placeholders(text), code).toEqual(placeholders(sentences['./sentences/en.json']?.[code]))
})

test('the sentence of an entry contains names, in the word order of the language', () => {
  const e = { action: 'user_created', actor: 'user:7', actorName: 'Lan', subject: 'user:8', subjectNames: { und: 'Minh {actor}' } }
  expect(sentenceOf(e, sentences['./sentences/en.json'])).toBe('Lan created an account for Minh {actor}') // placeholders in a name are not replaced
  expect(sentenceOf(e, sentences['./sentences/zh-Hant.json'])).toBe('Lan 為 Minh {actor} 建立了帳號')
  expect(sentenceOf(e, {}, { user_created: 'Account created' })).toBe('Account created')
  expect(actorOf({ actor: 'user:7', actorName: '' })).toBe('user:7')
  expect(subjectOf({ subject: 'menuItem:1', subjectNames: { vi: 'Phở bò', en: 'Beef pho' } })).toBe('Beef pho')
  expect(subjectOf({ subject: 'menuItem:1', subjectNames: {} })).toBe('menuItem:1')
  expect(subjectOf({ subject: 'voucher:11', subjectNames: {}, after: { code: 'WI…' } })).toBe('WI…')
})

test('a role and the settings are named in the language of the reader', async () => {
  await changeLanguage('vi')
  const e = { action: 'role_updated', actor: 'user:7', actorName: 'Lan', subject: 'role:3', subjectNames: { und: 'CASHIER' } }
  expect(sentenceOf(e, sentences['./sentences/vi.json'])).toContain('Thu ngân')
  expect(subjectOf({ ...e, subjectNames: { und: 'SHIFT_LEAD' } })).toBe('SHIFT_LEAD')
  expect(subjectOf({ subject: 'settings:house', subjectNames: {} })).toBe('Cài đặt')
  expect(pretty({ role: 'MANAGER', branches: [1] })).toContain('"role": "Quản lý"')
  await changeLanguage('en')
})

test('an order is named by its number, and by its id in entries without one', () => {
  const e = { action: 'order_canceled', actor: 'user:7', actorName: 'Lan', subject: 'order:01J', subjectNames: {}, after: { number: 'A-042' } }
  expect(sentenceOf(e, sentences['./sentences/en.json'])).toBe('Lan cancelled order A-042')
  expect(sentenceOf(e, sentences['./sentences/vi.json'])).toBe('Lan đã hủy đơn A-042')
  expect(subjectOf({ ...e, after: { status: 'CANCELED' } })).toBe('order:01J')
  expect(subjectOf({ ...e, subject: 'visit:S', after: { number: 'A-042' } })).toBe('visit:S')
})

test('an actor who was not logged in is named in the language of the reader', async () => {
  const e = { actor: 'anonymous', actorName: '' }
  expect(actorOf(e)).toBe('Someone not logged in')
  await changeLanguage('vi')
  expect(actorOf(e)).toBe('Người chưa đăng nhập')
  await changeLanguage('en')
})

test('a stock item is named by its item number', () => {
  const e = { action: 'stock_adjusted', actor: 'user:7', actorName: 'Lan', subject: 'stockItem:beef', subjectNames: {} }
  expect(subjectOf(e)).toBe('beef')
})

test('the sentence of a price change contains the old and the new price', async () => {
  await changeLanguage('en')
  const is = { menuItem: 3, names: { en: 'Beef pho', vi: 'Phở bò' }, price: 70_000 }
  const e = { action: 'menu_version_edited', actor: 'user:7', actorName: 'Lan', subject: 'menuVersion:2', subjectNames: { und: 'Menu' }, after: is }
  const said = (before: unknown, after: unknown = is) => sentenceOf({ ...e, before, after }, sentences['./sentences/en.json'], {}, 'VND')
  expect(said({ ...is, price: 65_000 })).toBe('Lan changed the price of Beef pho from ₫65,000 to ₫70,000 in a draft')
  expect(said(null)).toBe('Lan added Beef pho at ₫70,000 to a draft')
  expect(said({ ...is, dailyQuota: 3 })).toBe('Lan changed a draft of Menu')
  expect(said(null, { menuItem: 3, price: 70_000 })).toBe('Lan changed a draft of Menu') // older entries do not name the dish
})

test('the sentence of a copied menu contains both branches', async () => {
  await changeLanguage('en')
  const e = { action: 'menu_imported', actor: 'user:7', actorName: 'Lan', subject: 'menu:2', subjectNames: { und: 'Lunch' } }
  const said = (after: unknown) => sentenceOf({ ...e, after }, sentences['./sentences/en.json'])
  expect(said({ source: 'branch 1', sourceBranch: 'Old Quarter', targetBranch: 'West Lake' }))
    .toBe('Lan copied the menu Lunch from Old Quarter to West Lake')
  expect(said({ source: 'branch 1' })).toBe('Lan imported the menu Lunch') // older entries do not name the branches
  expect(said({ source: 'file' })).toBe('Lan imported the menu Lunch')
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

test('the choice of actions is sorted by name', () => {
  expect(choices({ a: 'Table cleared', b: 'Account deactivated', c: 'Menu published' }).map((c) => c.value)).toEqual(['b', 'c', 'a'])
})

test('blank filters are left out of the request', () => {
  expect(filled({ actor: ' user:7 ', action: ' ', subject: '' })).toEqual({ actor: 'user:7' })
})

test('a span includes the whole last day', () => {
  const { from = '', to = '' } = dayBounds('2026-03-01', '2026-03-01')
  expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000)
  expect(new Date(from).getHours()).toBe(0)
  expect(dayBounds('', '')).toEqual({})
  expect(Object.keys(dayBounds('', '2026-03-01'))).toEqual(['to'])
})

test('a missing value is shown as an empty text', () => {
  expect(pretty(null)).toBe('')
  expect(pretty({ cap: 3 })).toBe('{\n  "cap": 3\n}')
})
