import { language, t } from '@shared/i18n'
import { localeOf } from '@shared/i18n/languages'

import { readBoot } from '../api/boot'

// The brand is part of the page, so it changes only with the next page load.
export const brand = readBoot().brand

/** The restaurant's name: the brand's name, else the branch's, else a neutral word. */
export function restaurantName(branch?: string): string {
  return brand.name || branch || t('app.unnamed')
}

/** A text of the brand in the guest's language, else in English or any other; empty without one. */
export function brandText(texts: Record<string, string> | undefined): string {
  const all = texts ?? {}
  return all[localeOf(language.value)] || all.en || (Object.values(all)[0] ?? '')
}
