import {
  chooseLanguage, language, languages, registerTexts, setLanguage, textOf, type Language, type Values,
} from '@shared/i18n/catalogue'
import { onKept, recall, remember } from './storage'

export { clock, count, hasText, language, moment, money, percent } from '@shared/i18n/catalogue'

// A catalogue contains the texts of all features as <folder>.<name>, and those of Vuetify's components.
const load = {
  vi: () => import('./texts/vi'),
  'zh-Hant': () => import('./texts/zh-Hant'),
  en: () => import('./texts/en'),
}

/** The texts of Vuetify's components in the loaded languages. */
export const componentTexts: Partial<Record<Language, Awaited<ReturnType<(typeof load)[Language]>>['components']>> = {}

async function texts(l: Language) {
  const found = await load[l]()
  componentTexts[l] = found.components
  return found
}
registerTexts({ vi: () => texts('vi'), 'zh-Hant': () => texts('zh-Hant'), en: () => texts('en') })

/** Shows the console in a language and stores the choice. */
export async function changeLanguage(l: Language): Promise<void> {
  await setLanguage(l)
  remember('language', language.value) // a later choice may have replaced this one
}

/** Shows the console in the stored language, or in one that the browser prefers, and follows changes in other tabs. */
export async function restoreLanguage(): Promise<void> {
  const known = (l: string | null): l is Language => l !== null && l in languages
  const kept = recall('language')
  await changeLanguage(known(kept) ? kept : chooseLanguage(navigator.languages))
  onKept('language', (l) => {
    if (known(l) && l !== language.value) void changeLanguage(l)
  })
}

/** Joins names that stand in a row. Chinese has a comma of its own for them. */
export function listed(names: readonly string[]): string {
  return names.join(language.value === 'zh-Hant' ? '、' : ', ')
}

/** Returns the text `feature.name`. `count` selects the plural form. */
export function t(key: string, values: Values = {}): string {
  return textOf(key, values)
}
