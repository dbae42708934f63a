/** The first and the last of some business dates, both meant; `2026-11-21`. */
export interface Span {
  from: string
  to: string
}

export const periods = ['today', 'yesterday', 'week', 'month', 'quarter'] as const
export type Period = (typeof periods)[number]

/** What the API lets a report have of days. */
export const mostDays = 366

const dayMs = 86_400_000

/** The date so many days later; earlier for less than nothing. */
export function shift(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10)
}

/** The days of a period that ends with the business date of today: a week are seven, a month 30, a quarter 90. */
export function spanOf(period: Period, today: string): Span {
  const yesterday = shift(today, -1)
  switch (period) {
    case 'today': return { from: today, to: today }
    case 'yesterday': return { from: yesterday, to: yesterday }
    case 'week': return { from: shift(today, -6), to: today }
    case 'month': return { from: shift(today, -29), to: today }
    case 'quarter': return { from: shift(today, -89), to: today }
  }
}

/** How many days there are in a span; undefined for one that the API would refuse. */
export function days(s: Span): number | undefined {
  const n = (Date.parse(s.to) - Date.parse(s.from)) / dayMs + 1
  return Number.isInteger(n) && n >= 1 && n <= mostDays ? n : undefined
}

/** All dates of a span. */
export function dates(s: Span): string[] {
  return Array.from({ length: days(s) ?? 0 }, (_, i) => shift(s.from, i))
}
