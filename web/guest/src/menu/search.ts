import { lacksOptions } from '@shared/options'

import type { Category, MenuItem } from '../api/dto'

/** Removes case and diacritics: "pho" finds "Phở", "dau" finds "đậu". */
export function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{Mn}/gu, '').replace(/đ/giu, 'd').toLowerCase()
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
  const wanted = plain(query).split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return [...categories]
  return categories
    .map((c) => ({
      ...c,
      items: c.items.filter((i) => {
        const text = `${textOf(i, c)} ${others?.get(i.itemId) ?? ''}`
        return wanted.every((word) => text.includes(word))
      }),
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
