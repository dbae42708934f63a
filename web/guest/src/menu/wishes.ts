import { shallowRef } from 'vue'

import { allergens, diets, type Allergen, type Diet, type Marks, type Sum, type Wishes } from '@shared/allergens'
import { language, t, type Key } from '@shared/i18n'

// What a guest avoids is data about health: it is stored on the phone only, and never sent.
const key = 'comanda.wishes'

/** What the guest of this phone avoids. */
export const wishes = shallowRef<Wishes>(read())

export function setWishes(next: Wishes): void {
  wishes.value = next
  try {
    localStorage.setItem(key, JSON.stringify(next))
  } catch {
    // Without storage, the choice lasts until the next reload.
  }
}

function read(): Wishes {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Record<keyof Wishes, unknown>> | null
    const listed = (v: unknown): unknown[] => (Array.isArray(v) ? v : [])
    return {
      without: allergens.filter((a) => listed(kept?.without).includes(a)),
      diets: diets.filter((d) => listed(kept?.diets).includes(d)),
    }
  } catch {
    return { without: [], diets: [] }
  }
}

/** A line about a dish. The level chooses icon and colour; the text says the same. */
export interface Mark {
  level: 'contains' | 'mayContain' | 'ask' | 'notDiet' | 'fine'
  text: string
}

const list = (keys: Key[]) => keys.map((k) => t(k)).join(language.value === 'zh-Hant' ? '、' : ', ')
const allergenNames = (codes: readonly Allergen[]) => list(codes.map((code): Key => `allergen.${code}`))
export const dietNames = (codes: readonly Diet[]) => list(codes.map((code): Key => `diet.${code}`))

/** The lines about a dish for a guest with wishes. */
export function markLines(m: Marks): Mark[] {
  const lines: Mark[] = []
  if (m.contains.length) lines.push({ level: 'contains', text: t('mark.contains', { names: allergenNames(m.contains) }) })
  if (m.ask) lines.push({ level: 'ask', text: t('mark.ask') })
  if (m.mayContain.length) lines.push({ level: 'mayContain', text: t('mark.mayContain', { names: allergenNames(m.mayContain) }) })
  if (m.notDiets.length) lines.push({ level: 'notDiet', text: t('mark.notDiet', { names: dietNames(m.notDiets) }) })
  return lines.length ? lines : [{ level: 'fine', text: t('mark.fine') }]
}

/** The lines about all that a dish declares. */
export function factLines(sum: Sum): Mark[] {
  const lines: Mark[] = []
  if (sum.contains.length) lines.push({ level: 'contains', text: t('mark.contains', { names: allergenNames(sum.contains) }) })
  if (sum.mayContain.length) lines.push({ level: 'mayContain', text: t('mark.mayContain', { names: allergenNames(sum.mayContain) }) })
  if (!sum.known) lines.push({ level: 'ask', text: t('mark.ask') })
  if (!lines.length) lines.push({ level: 'fine', text: t('mark.none') })
  return lines
}
