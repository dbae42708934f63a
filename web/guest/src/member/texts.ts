import { addTexts, textOf, type KeyOf, type Texts, type Values } from '@shared/i18n'

import type en from './texts/en.json'

/** The key of a text of the members' pages. */
export type MemberKey = KeyOf<typeof en>

const texts: Texts = {
  vi: () => import('./texts/vi.json'),
  'zh-Hant': () => import('./texts/zh-Hant.json'),
  en: () => import('./texts/en.json'),
}

/** Loads the texts before the first members' page is shown. */
export function ready(): Promise<void> {
  return addTexts(texts)
}

/** Returns the text of a key in the current language. */
export function m(key: MemberKey, values: Values = {}): string {
  return textOf(key, values)
}
