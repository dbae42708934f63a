import { expect, test } from 'vitest'

import main from '@shared/i18n/en.json'
import { setLanguage, type Language } from '@shared/i18n'

import { m, ready } from './texts'
import en from './texts/en.json'
import vi from './texts/vi.json'
import zh from './texts/zh-Hant.json'

const catalogues: Record<Language, Record<string, string>> = { vi, 'zh-Hant': zh, en }
const namesOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1]).sort()

test.each(Object.entries(catalogues))('%s has every text, with the same placeholders', (_, texts) => {
  const wanted = Object.keys(en).filter((key) => !key.endsWith('_one'))
  expect(Object.keys(texts).filter((key) => !key.endsWith('_one'))).toEqual(wanted)
  for (const [key, text] of Object.entries(texts)) {
    expect(text.trim()).not.toBe('')
    expect(namesOf(text), key).toEqual(namesOf((en as Record<string, string>)[key] ?? ''))
  }
})

test('no text has the key of a guest text', () => {
  expect(Object.keys(en).filter((key) => key in main)).toEqual([])
})

test('every text is used', () => {
  const files = import.meta.glob<string>(['./**/*.ts', './**/*.vue', '!./**/*.spec.ts'], { query: '?raw', import: 'default', eager: true })
  const code = Object.values(files).join('\n')
  const names = Object.keys(en).map((key) => key.replace(/_(one|other)$/, ''))
  expect(names.filter((name) => !code.includes(`'${name}'`))).toEqual([])
})

test('the texts are loaded in the current language and follow its changes', async () => {
  await setLanguage('vi')
  await ready()
  expect(m('login.title')).toBe(vi['login.title'])
  await setLanguage('en')
  expect(m('code.wait', { count: 1 })).toBe('New code in 1 second')
  expect(m('code.wait', { count: 9 })).toBe('New code in 9 seconds')
})
