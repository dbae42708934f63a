import { expect, test } from 'vitest'

const sources = import.meta.glob<string>('/staff/src/**/*.{vue,ts}', { eager: true, query: '?raw', import: 'default' })
const catalogues = import.meta.glob<Record<string, string>>('/staff/src/*/texts/*.json', { eager: true, import: 'default' })

const texts = (folder: string, language: string) => catalogues[`/staff/src/${folder}/texts/${language}.json`] ?? {}
const folders = [...new Set(Object.keys(catalogues).map((path) => path.split('/')[3] ?? ''))]
const namesOf = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]))].sort()

test.each(folders.flatMap((f) => ['vi', 'zh-Hant'].map((l) => [f, l] as const)))('%s has every text in %s', (folder, language) => {
  const [en, other] = [texts(folder, 'en'), texts(folder, language)]
  expect(Object.keys(other).sort()).toEqual(Object.keys(en).sort())
  for (const [key, text] of Object.entries(other)) {
    expect(text.trim(), key).not.toBe('')
    // A form may leave out its number: one dish, but {n} dishes.
    const wanted = namesOf(en[key] ?? '').filter((n) => n !== 'n')
    expect(namesOf(text).filter((n) => n !== 'n'), key).toEqual(wanted)
    expect(text.split('|').length, key).toBe((en[key] ?? '').split('|').length)
  }
})

test('every text that is asked for is there', () => {
  const there = new Set(folders.flatMap((f) => Object.keys(texts(f, 'en')).map((key) => `${f}.${key}`)))
  const asked = Object.entries(sources)
    .filter(([path]) => !path.endsWith('.spec.ts'))
    .flatMap(([, source]) => [...source.matchAll(/\bt\(\s*'([\w-]+\.[\w-]+)'/g)].map((m) => m[1] ?? ''))
  expect(asked.length).toBeGreaterThan(50)
  expect(asked.filter((key) => !there.has(key))).toEqual([])
})
