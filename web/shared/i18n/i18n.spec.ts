import { expect, test } from 'vitest'

import { addTexts, chooseLanguage, clock, countdown, language, moment, setLanguage, t, textOf, type Language } from './index'
import en from './en.json'
import vi from './vi.json'
import zh from './zh-Hant.json'

const catalogues: Record<Language, Record<string, string>> = { vi, 'zh-Hant': zh, en }
const namesOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort()

test.each(Object.entries(catalogues))('%s has every text, with the same placeholders', (_, texts) => {
  const wanted = Object.keys(en).filter((key) => !key.endsWith('_one'))
  expect(Object.keys(texts).filter((key) => !key.endsWith('_one'))).toEqual(wanted)
  for (const [key, text] of Object.entries(texts)) {
    expect(text.trim()).not.toBe('')
    expect(namesOf(text), key).toEqual(namesOf((en as Record<string, string>)[key] ?? ''))
  }
})

test('a text depends on its number, and its placeholders are replaced', async () => {
  await setLanguage('en')
  expect(t('cart.items', { count: 1 })).toBe('1 item')
  expect(t('cart.items', { count: 3 })).toBe('3 items')
  await setLanguage('zh-Hant')
  expect(t('cart.items', { count: 1 })).toContain('1')
  expect(document.documentElement.lang).toBe('zh-Hant')
  expect(language.value).toBe('zh-Hant')
})

test.each([
  ['停售 {name} 嗎', '牛肉麵', '停售牛肉麵嗎'],
  ['停售 {name} 嗎', 'Phở bò', '停售 Phở bò 嗎'],
  ['在 {name} 的菜單上', 'Comanda 台北', '在 Comanda 台北的菜單上'],
  ['{name} · 尚無訂單', '台北', '台北 · 尚無訂單'],
  ['{name} 桌', 'A1', 'A1 桌'],
  ['{name} is live', '牛肉麵', '牛肉麵 is live'],
  ['到 {other} 為止', '牛肉麵', '到 {other} 為止'],
])('“%s” with %s has spaces only beside other letters', async (text, name, want) => {
  await setLanguage('zh-Hant')
  const part = () => Promise.resolve({ default: { spaced: text } })
  await addTexts({ en: part, vi: part, 'zh-Hant': part })
  expect(textOf('spaced', { name })).toBe(want)
})

test('a language chosen during a fetch of other texts stays selected', async () => {
  await setLanguage('en')
  let arrive: (texts: { default: Record<string, string> }) => void = () => undefined
  const slow = new Promise<{ default: Record<string, string> }>((resolve) => (arrive = resolve))
  const texts = (late: string) => () => Promise.resolve({ default: { late } })
  const added = addTexts({ en: () => slow, vi: texts('muộn'), 'zh-Hant': texts('晚') })
  await setLanguage('vi')
  arrive({ default: { late: 'late' } })
  await added
  expect(language.value).toBe('vi')
  expect(document.documentElement.lang).toBe('vi')
  expect(textOf('late')).toBe('muộn')
})

test.each([
  [['de', 'vi-VN', 'en'], 'vi'],
  [['zh-TW'], 'zh-Hant'],
  [['zh-Hans-CN'], 'zh-Hant'],
  [['fr'], 'en'],
  [[], 'en'],
])('the preferences %j select %s', (preferred, want) => {
  expect(chooseLanguage(preferred)).toBe(want)
})

test.each([
  [900_499, '15:00'],
  [65_000, '1:05'],
  [999, '0:00'],
  [0, '0:00'],
  [-5, '0:00'],
])('%d ms are shown as %s', (ms, want) => {
  expect(countdown(ms)).toBe(want)
})

test.each<Language>(['en', 'vi', 'zh-Hant'])('%s counts the hours of a day from 0', async (l) => {
  await setLanguage(l)
  expect(clock('2026-02-28T17:05:00Z', 'Asia/Ho_Chi_Minh')).toBe('00:05')
  expect(moment('2026-02-28T17:05:00Z', 'Asia/Ho_Chi_Minh')).toContain('00:05')
})
