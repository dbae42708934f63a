import { lacksOptions } from '@shared/options'

import type { Category, MenuItem } from '../api/dto'

/**
 * Removes case, diacritics and widths: "pho" finds "Phở", "dau" finds "đậu". The server does the same (internal/text), and
 * internal/text/testdata/search.json has the cases of both. Letters are lowered one by one, because toLowerCase of a whole
 * text writes the Greek sigma differently at the end of a word.
 */
export function plain(text: string): string {
  return text.normalize('NFKD').replace(/\p{Mn}/gu, '').replace(/\p{Lu}/gu, (c) => c.toLowerCase()).replace(/đ/gu, 'd')
}

/** The folded words of a search. */
export function wordsOf(query: string): string[] {
  return plain(query).split(/\s+/).filter(Boolean)
}

/** Whether a folded text contains every word. */
export function contains(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word))
}

/** The texts of a dish that the search reads. */
export function textOf(item: MenuItem, c: Category): string {
  return plain(`${item.name} ${item.description} ${c.name}`)
}

/**
 * Returns the categories with the dishes that contain every word, in the shown language or in `others`, the dishes' texts
 * in further languages by item.
 */
export function search(categories: readonly Category[], query: string, others?: ReadonlyMap<string, string>): Category[] {
  const wanted = wordsOf(query)
  if (wanted.length === 0) return [...categories]
  return categories
    .map((c) => ({
      ...c,
      items: c.items.filter((i) => contains(`${textOf(i, c)} ${others?.get(i.itemId) ?? ''}`, wanted)),
    }))
    .filter((c) => c.items.length > 0)
}

/** Whether a dish is unavailable now. */
export function isUnavailable(item: MenuItem): boolean {
  return !item.isActive || item.isSoldOut || lacksOptions(item)
}

/** The categories with their sold-out dishes at the end. */
export function soldOutLast(categories: readonly Category[]): Category[] {
  return categories.map((c) => ({ ...c, items: [...c.items.filter((i) => !isUnavailable(i)), ...c.items.filter(isUnavailable)] }))
}
