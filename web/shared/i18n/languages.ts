/** The languages of the apps, as BCP 47 tags. */
export const languages = { vi: 'Tiếng Việt', 'zh-Hant': '繁體中文', en: 'English' } as const
export type Language = keyof typeof languages

/** How the API names a language: it knows traditional Chinese by its place. */
export function localeOf(l: Language): string {
  return l === 'zh-Hant' ? 'zh-TW' : l
}

/** The first of the preferred languages (BCP 47) that there is, or English. */
export function chooseLanguage(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const l = tag.toLowerCase()
    if (l.startsWith('vi')) return 'vi'
    if (l.startsWith('zh')) return 'zh-Hant'
    if (l.startsWith('en')) return 'en'
  }
  return 'en'
}
