/** The languages of the apps, as BCP 47 tags. */
export const languages = { vi: 'Tiếng Việt', 'zh-Hant': '繁體中文', en: 'English' } as const
export type Language = keyof typeof languages

/** The API's name of a language. It names traditional Chinese by its region. */
export function localeOf(l: Language): string {
  return l === 'zh-Hant' ? 'zh-TW' : l
}

/**
 * The Accept-Language header of a request. Menus may lack the app's language and have others, such as German; a guest reads
 * such a menu in English if it has that.
 */
export function acceptLanguage(l: Language): string {
  return l === 'en' ? 'en' : `${localeOf(l)}, en;q=0.5`
}

/** The first of the preferred languages (BCP 47) that the apps have, or English. */
export function chooseLanguage(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const l = tag.toLowerCase()
    if (l.startsWith('vi')) return 'vi'
    if (l.startsWith('zh')) return 'zh-Hant'
    if (l.startsWith('en')) return 'en'
  }
  return 'en'
}
