import { shallowRef, watch } from 'vue'

import { isFault } from '@shared/api/fault'
import { language, localeOf } from '@shared/i18n'

import type { Menu } from '../api/dto'
import { textOf } from './search'

/** Fetches the current menu in another language of its branch. */
export type FetchMenu = (locale: string) => Promise<Menu>

/**
 * The texts of the dishes in the branch's other languages, for the search. They are fetched when a guest begins to
 * search, because most guests never do.
 */
export function useOtherTexts(menu: () => Menu | undefined, locales: () => readonly string[], fetchMenu: () => FetchMenu) {
  const texts = shallowRef(new Map<string, string>())
  let of = ''

  const version = () => `${menu()?.menuVersionId ?? ''} ${language.value}`

  async function load(): Promise<void> {
    const mine = version()
    if (!menu() || of === mine) return
    of = mine
    const others = locales().filter((l) => l !== localeOf(language.value))
    try {
      const menus = await Promise.all(others.map(fetchMenu()))
      if (of !== mine) return
      const found = new Map<string, string>()
      for (const c of menus.flatMap((m) => m.categories)) {
        for (const i of c.items) found.set(i.itemId, `${found.get(i.itemId) ?? ''} ${textOf(i, c)}`)
      }
      texts.value = found
    } catch (e) {
      if (!isFault(e)) throw e
      if (of === mine) of = '' // the next search tries again
    }
  }

  // A running search continues with the texts of the new menu.
  watch(version, () => {
    if (of) void load()
  })
  return { texts, load }
}
