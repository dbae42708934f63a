import { ref, shallowRef } from 'vue'

import type { Language } from './languages'
import { formatMoney } from '../money'

export { acceptLanguage, chooseLanguage, languages, localeOf, type Language } from './languages'

/** The key of a text. Texts that depend on a number exist as name_one and name_other, and are looked up by `name`. */
export type KeyOf<C> = Exclude<keyof C, `${string}_one` | `${string}_other`> | Counted<C>
type Counted<C> = keyof C extends infer K ? (K extends `${infer Name}_other` ? Name : never) : never
type Catalogue = Partial<Record<string, string>>

/** The loaders of the texts of a part of an app. */
export type Texts = Record<Language, () => Promise<{ default: Catalogue }>>

const parts: Texts[] = []
const texts = shallowRef<Catalogue>({})
const current = ref<Language>('en')

/** The language in which the page is shown. */
export const language = current

/** The language selected last. Its texts may still be loading. */
let wanted: Language = 'en'

/** Declares the texts of an app, which the first setLanguage loads. */
export function registerTexts(part: Texts): void {
  parts.push(part)
}

/** Loads a language's texts and shows the page in it. Of concurrent calls the last one wins. */
export async function setLanguage(l: Language): Promise<void> {
  wanted = l
  try {
    await show()
  } catch (e) {
    if (wanted === l) wanted = current.value
    throw e
  }
}

/** Shows the page in the wanted language, with the texts of all parts. Both may change while texts load. */
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

/** Loads the texts of all languages, so that each can be shown without a network. */
export async function fetchLanguages(): Promise<void> {
  await Promise.all(parts.flatMap((part) => Object.values(part).map((fetchTexts) => fetchTexts())))
}

/** Adds the texts of a part of the app that is loaded later. It fails if they cannot be loaded. */
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

/** The values of a text's placeholders. `count` also selects the form: name_zero if there is one, name_one, name_other. */
export type Values = Record<string, string | number | null | undefined>

/** Returns the text of a key in the current language, or the key if there is no text. */
export function textOf(key: string, values: Values = {}): string {
  const form = typeof values.count === 'number' ? texts.value[formOf(key, values.count)] : undefined
  const text = form ?? texts.value[`${key}_other`] ?? texts.value[key] ?? key
  return text.replace(placeholder, (whole, before: string, name: string, after: string) => {
    if (!(name in values)) return whole
    const value = String(values[name] ?? '')
    return (han.test(value.charAt(0)) ? before.trimEnd() : before) + value + (han.test(value.slice(-1)) ? '' : after)
  })
}

// Chinese texts have a space between their characters and a placeholder, which Latin letters and digits need. A value in Chinese
// characters stands without it.
const placeholder = /(\p{Script=Han} |)\{(\w+)\}( (?=\p{Script=Han})|)/gu
const han = /\p{Script=Han}/u

/** Whether a key has a text. */
export function hasText(key: string): boolean {
  return key in texts.value || `${key}_other` in texts.value
}

function formOf(key: string, count: number): string {
  if (count === 0 && `${key}_zero` in texts.value) return `${key}_zero`
  return `${key}_${pluralOf(count)}`
}

// Creating the rules is expensive, and a list needs them in each of its rows.
const plurals = new Map<string, Intl.PluralRules>()

function pluralOf(count: number): string {
  const rules = plurals.get(current.value) ?? new Intl.PluralRules(current.value)
  plurals.set(current.value, rules)
  return rules.select(count)
}

/** Formats a number with separators of thousands. */
export function count(n: number): string {
  return new Intl.NumberFormat(current.value).format(n)
}

/** Formats a percentage that the server sends as a decimal text: 8 %, 8.875%. */
export function percent(rate: string): string {
  return new Intl.NumberFormat(current.value, { style: 'percent', maximumFractionDigits: 4 }).format(Number(rate) / 100)
}

/** Formats an amount in minor units in the current language. */
export function money(amount: number, currency: string): string {
  return formatMoney(amount, currency, current.value)
}

/** Formats the time of day of an instant in a time zone, by default the device's. */
export function clock(instant: string, timeZone?: string): string {
  return formatInstant(instant, { timeStyle: 'short' }, timeZone)
}

/** Formats day and time of an instant in a time zone, by default the device's. */
export function moment(instant: string, timeZone?: string): string {
  return formatInstant(instant, { dateStyle: 'medium', timeStyle: 'short' }, timeZone)
}

function formatInstant(instant: string, options: Intl.DateTimeFormatOptions, timeZone?: string): string {
  // With hour12: false, English and Chinese would say 24:05 for five minutes past midnight.
  return new Intl.DateTimeFormat(current.value, { ...options, hourCycle: 'h23', ...(timeZone ? { timeZone } : {}) }).format(new Date(instant))
}

/** Minutes and seconds, such as 14:05. */
export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}`
}
