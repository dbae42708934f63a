import { addTexts, language, textOf, type KeyOf, type Texts, type Values } from '@shared/i18n'

import type en from './texts/en.json'

/** The name of a text of these pages. */
export type MemberKey = KeyOf<typeof en>

const texts: Texts = {
  vi: () => import('./texts/vi.json'),
  'zh-Hant': () => import('./texts/zh-Hant.json'),
  en: () => import('./texts/en.json'),
}

/** Loads the texts, before the first of these pages is shown. */
export function ready(): Promise<void> {
  return addTexts(texts)
}

/** The text of that name in the present language. */
export function m(key: MemberKey, values: Values = {}): string {
  return textOf(key, values)
}

/** A business date such as 2026-02-26, as people write dates. */
export function day(bizDate: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(`${bizDate}T00:00:00Z`))
}

/** An instant with its day, on this device's clock. */
export function moment(instant: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(instant))
}
