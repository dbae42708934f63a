import { ref, shallowRef } from 'vue'

import type en from './en.json'
import type { Language } from './languages'
import { formatMoney } from '../money'

export { chooseLanguage, languages, localeOf, type Language } from './languages'

/** A text's name. Texts that depend on a number exist as name_one and name_other and are asked for by `name`. */
export type KeyOf<C> = Exclude<keyof C, `${string}_one` | `${string}_other`> | Counted<C>
type Counted<C> = keyof C extends infer K ? (K extends `${infer Name}_other` ? Name : never) : never
export type Key = KeyOf<typeof en>
type Catalogue = Partial<Record<string, string>>

/** Where the texts of a part of the app are fetched from. */
export type Texts = Record<Language, () => Promise<{ default: Catalogue }>>

const load: Texts = {
  vi: () => import('./vi.json'),
  'zh-Hant': () => import('./zh-Hant.json'),
  en: () => import('./en.json'),
}

const parts = [load]
const texts = shallowRef<Catalogue>({})
const current = ref<Language>('en')

/** The language in which the page is shown. */
export const language = current

/** The language that was asked for last. Its texts may still be on their way. */
let wanted: Language = 'en'

/** Fetches a language's texts and shows the page in it. Of several calls at once the last one counts. */
export async function setLanguage(l: Language): Promise<void> {
  wanted = l
  try {
    await show()
  } catch (e) {
    if (wanted === l) wanted = current.value
    throw e
  }
}

/** Shows the page in the wanted language, with the texts of all parts. Both may change while texts are fetched. */
async function show(): Promise<void> {
  for (;;) {
    const l = wanted
    const count = parts.length
    const found = await Promise.all(parts.map((part) => part[l]()))
    if (l !== wanted || count !== parts.length) continue
    texts.value = Object.assign({}, ...found.map((f) => f.default)) as Catalogue
    current.value = l
    document.documentElement.lang = l
    return
  }
}

/** Fetches the texts of all languages, so that each can be shown without a network. */
export async function fetchLanguages(): Promise<void> {
  await Promise.all(parts.flatMap((part) => Object.values(part).map((fetchTexts) => fetchTexts())))
}

/** Adds the texts of a part of the app that not everybody needs. It fails where they cannot be fetched. */
export async function addTexts(part: Texts): Promise<void> {
  if (parts.includes(part)) return
  parts.push(part)
  try {
    await show()
  } catch (e) {
    parts.splice(parts.indexOf(part), 1)
    throw e
  }
}

/** What is written into texts. `count` chooses between the forms of a text as well. */
export type Values = Record<string, string | number>

/** The text of that name in the present language. */
export function t(key: Key, values: Values = {}): string {
  return textOf(key, values)
}

/** The same for the texts of any part; each has a function of its own that knows its names. */
export function textOf(key: string, values: Values = {}): string {
  const form = 'count' in values ? `${key}_${pluralOf(Number(values.count))}` : key
  const text = texts.value[form] ?? texts.value[`${key}_other`] ?? key
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

function pluralOf(count: number): Intl.LDMLPluralRule {
  return new Intl.PluralRules(current.value).select(count)
}

/** An amount in minor units, in the present language. */
export function money(amount: number, currency: string): string {
  return formatMoney(amount, currency, current.value)
}

/** The time of day of an instant on the restaurant's clock. */
export function clock(instant: string, timeZone: string): string {
  return new Intl.DateTimeFormat(current.value, { timeStyle: 'short', timeZone, hour12: false }).format(new Date(instant))
}

/** Minutes and seconds, such as 14:05. */
export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}`
}
