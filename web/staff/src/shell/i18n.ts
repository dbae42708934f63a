import { ref } from 'vue'
import { createI18n, type Composer } from 'vue-i18n'

import { chooseLanguage, languages, type Language } from '@shared/i18n/languages'
import { formatMoney } from '@shared/money'
import { onKept, recall, remember } from './kept'

// A catalogue is made of the texts of all features, each under the name of its folder, and of those of the components.
const load: Record<Language, () => Promise<{ default: Catalogue }>> = {
  vi: () => import('./texts/vi'),
  'zh-Hant': () => import('./texts/zh-Hant'),
  en: () => import('./texts/en'),
}

/** Texts by feature and name, and those of the components. */
type Catalogue = Record<string, object>

export const i18n = createI18n({
  legacy: false, locale: 'en' as string, fallbackLocale: 'en', missingWarn: false, fallbackWarn: false,
})
const composer = i18n.global as unknown as Composer

/** The language in which the console is shown. */
export const language = ref<Language>('en')

/** Shows the console in a language, and the next time too. */
export async function changeLanguage(l: Language): Promise<void> {
  composer.setLocaleMessage(l, (await load[l]()).default as never)
  composer.locale.value = l
  language.value = l
  document.documentElement.lang = l
  remember('language', l)
}

/** Shows the console in the language that was chosen before, here or in another window, or in one that the browser asks for. */
export async function restoreLanguage(): Promise<void> {
  const known = (l: string | null): l is Language => l !== null && l in languages
  const kept = recall('language')
  await changeLanguage(known(kept) ? kept : chooseLanguage(navigator.languages))
  onKept('language', (l) => {
    if (known(l) && l !== language.value) void changeLanguage(l)
  })
}

/**
 * The text of that name, `feature.name`. A text with forms, `one dish | {n} dishes`, is chosen by `n`.
 */
export function t(key: string, values: Record<string, unknown> = {}): string {
  return typeof values.n === 'number' ? composer.t(key, values, values.n) : composer.t(key, values)
}

/** Whether there is a text of that name. */
export function told(key: string): boolean {
  return composer.te(key)
}

/** An amount in minor units, as people here read it. */
export function money(amount: number, currency: string): string {
  return formatMoney(amount, currency, language.value)
}

/** The time of day of an instant, on the clock of a time zone. */
export function clock(instant: string, timeZone?: string): string {
  return format(instant, { timeStyle: 'short', hour12: false }, timeZone)
}

/** Day and time of an instant, on the clock of a time zone. */
export function moment(instant: string, timeZone?: string): string {
  return format(instant, { dateStyle: 'medium', timeStyle: 'short', hour12: false }, timeZone)
}

function format(instant: string, options: Intl.DateTimeFormatOptions, timeZone?: string): string {
  return new Intl.DateTimeFormat(language.value, timeZone ? { ...options, timeZone } : options).format(new Date(instant))
}
