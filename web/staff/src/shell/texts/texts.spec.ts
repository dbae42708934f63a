import { expect, test } from 'vitest'

const sources = import.meta.glob<string>('/staff/src/**/*.{vue,ts}', { eager: true, query: '?raw', import: 'default' })
const catalogues = import.meta.glob<Record<string, string>>('/staff/src/*/texts/*.json', { eager: true, import: 'default' })

const texts = (folder: string, language: string) => catalogues[`/staff/src/${folder}/texts/${language}.json`] ?? {}
const folders = [...new Set(Object.keys(catalogues).map((path) => path.split('/')[3] ?? ''))]
const namesOf = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]))].sort()

const nameOf = (key: string) => key.replace(/_(zero|one|other)$/, '')

test.each(folders.flatMap((f) => ['vi', 'zh-Hant'].map((l) => [f, l] as const)))('%s has every text in %s', (folder, language) => {
  const [en, other] = [texts(folder, 'en'), texts(folder, language)]
  // Only English has a singular form.
  const wanted = Object.keys(en).filter((key) => !(key.endsWith('_one') && `${nameOf(key)}_other` in en))
  expect(Object.keys(other).sort()).toEqual(wanted.sort())
  for (const [key, text] of Object.entries(other)) {
    expect(text.trim(), key).not.toBe('')
    // A form may leave out its number: no dishes, but {count} dishes.
    const values = namesOf(en[key] ?? '').filter((n) => n !== 'count')
    expect(namesOf(text).filter((n) => n !== 'count'), key).toEqual(values)
  }
})

test('every text that is looked up exists', () => {
  const there = new Set(folders.flatMap((f) => Object.keys(texts(f, 'en')).flatMap((key) => [`${f}.${key}`, `${f}.${nameOf(key)}`])))
  const asked = Object.entries(sources)
    .filter(([path]) => !path.endsWith('.spec.ts'))
    .flatMap(([, source]) => [...source.matchAll(/\bt\(\s*'([\w-]+\.[\w-]+)'/g)].map((m) => m[1] ?? ''))
  expect(asked.length).toBeGreaterThan(50)
  expect(asked.filter((key) => !there.has(key))).toEqual([])
})

test.each(['en', 'vi', 'zh-Hant'])('what stands side by side has different names in %s', (language) => {
  const [pricing, people] = [texts('pricing', language), texts('people', language)]
  const beside = [
    [pricing.mode, pricing.scope, pricing.tax_rounding, pricing.discount_rounding], [people.hire, people.team_several], [people.hire, people.team],
  ]
  for (const labels of beside) expect(new Set(labels).size, labels.join(', ')).toBe(labels.length)
})

test.each(['en', 'vi', 'zh-Hant'])('to archive, to take off sale and to sell out have different words in %s', (language) => {
  const [menu, restaurant] = [texts('menu', language), texts('restaurant', language)]
  const words = [menu.dish_retire, menu.withdraw, texts('availability', language).off]
  expect(new Set(words).size, words.join(', ')).toBe(words.length)
  expect([menu.retired, menu.dish_retire]).toEqual([restaurant.retired, restaurant.retire])
})

test('Vietnamese has one word for the options of a dish, in both apps', () => {
  const all = import.meta.glob<object>(['/{staff,guest}/src/**/vi.json', '/shared/i18n/vi.json'], { eager: true, import: 'default' })
  expect(Object.keys(all).length).toBeGreaterThan(10)
  const preferences = ['mark.fine', 'wish.hint'] // what a guest eats, not the options of a dish
  const others = Object.values(all).flatMap((texts) => Object.entries(texts)).filter(([key, text]) => /lựa chọn|tuỳ chọn/i.test(JSON.stringify(text)) && !preferences.includes(key))
  expect(others).toEqual([])
})

// On a phone of 360 pixels, a field has 270 for its label, about 32 Latin letters.
test.each(['en', 'vi'])('labels of settings fit on a small phone in %s', (language) => {
  const restaurant = texts('restaurant', language)
  for (const key of Object.keys(restaurant).filter((k) => /^trust_[a-z]+(_show)?$/.test(k))) expect(restaurant[key]?.length, key).toBeLessThanOrEqual(32)
})
