import { registerTexts, textOf, type KeyOf, type Values } from './catalogue'
import type en from './en.json'

export {
  acceptLanguage, addTexts, chooseLanguage, clock, countdown, fetchLanguages, language, languages, localeOf, moment, money, percent,
  setLanguage, textOf,
  type KeyOf, type Language, type Texts, type Values,
} from './catalogue'

// The texts of the guest app. The console has its own texts and uses only the catalogue mechanism.
registerTexts({
  vi: () => import('./vi.json'),
  'zh-Hant': () => import('./zh-Hant.json'),
  en: () => import('./en.json'),
})

export type Key = KeyOf<typeof en>

/** Returns the text of a key in the current language. */
export function t(key: Key, values: Values = {}): string {
  return textOf(key, values)
}
