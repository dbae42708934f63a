import { localeOf } from '@shared/i18n/languages'
import { language } from '../shell/i18n'

/** One text in several languages, by the API's locales. */
export type Texts = Record<string, string>

/** The locales of a restaurant's texts, with their names in their own languages. */
export const localeNames: Texts = { vi: 'Tiếng Việt', 'zh-TW': '繁體中文', en: 'English', ja: '日本語', th: 'ไทย', de: 'Deutsch' }

/** Returns a text in the console's language, or in the language that guests see instead. */
export function localized(texts: Texts): string {
  const [first = ''] = Object.keys(texts).sort()
  return texts[localeOf(language.value)] || texts.en || (texts[first] ?? '')
}

/** The locales that a form offers: those of the branches, and others that the texts already have. */
export function localesFor(branches: { locales: string[] | null }[], ...texts: Texts[]): string[] {
  const wanted = new Set([...branches.flatMap((b) => b.locales ?? []), ...texts.flatMap((t) => Object.keys(t))])
  return Object.keys(localeNames).filter((l) => wanted.has(l))
}

/** The texts that are not blank, trimmed. */
export function filled(texts: Texts): Texts {
  return Object.fromEntries(Object.entries(texts).map(([l, text]) => [l, text.trim()] as const).filter(([, text]) => text !== ''))
}

/** The languages of a branch in which a text is missing, by their names. Without a branch none is. */
export function missing(texts: Texts, branch: { locales: string[] | null } | undefined): string[] {
  return localesFor(branch ? [branch] : []).filter((l) => !texts[l]).map((l) => localeNames[l] ?? l)
}
