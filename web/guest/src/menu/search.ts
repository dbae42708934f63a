import type { Category } from '../api/dto'

/** Text as people type it in a hurry: "pho" finds "Phở", "dau" finds "đậu". */
export function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{Mn}/gu, '').replace(/đ/giu, 'd').toLowerCase()
}

/** The categories with those dishes that have every word somewhere. */
export function search(categories: readonly Category[], words: string): Category[] {
  const wanted = plain(words).split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return [...categories]
  return categories
    .map((c) => ({
      ...c,
      items: c.items.filter((i) => {
        const text = plain(`${i.name} ${i.description} ${c.name}`)
        return wanted.every((word) => text.includes(word))
      }),
    }))
    .filter((c) => c.items.length > 0)
}
