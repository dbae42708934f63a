/** A range of business dates such as `2026-11-21`, both ends included. */
export interface Span {
  from: string
  to: string
}

export const periods = ['today', 'yesterday', 'week', 'month', 'quarter'] as const
export type Period = (typeof periods)[number]

/** The API's limit of days in a report. */
const maxDays = 366

const dayMs = 86_400_000

/** The date a few days later, or earlier for a negative number. */
export function shift(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10)
}

/** The dates of a period that ends with today's business date: a week has 7 days, a month 30, a quarter 90. */
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

/** The number of days in a span; undefined for one that the API would refuse. */
export function days(s: Span): number | undefined {
  const n = (Date.parse(s.to) - Date.parse(s.from)) / dayMs + 1
  return Number.isInteger(n) && n >= 1 && n <= maxDays ? n : undefined
}

/** All dates of a span. */
export function dates(s: Span): string[] {
  return Array.from({ length: days(s) ?? 0 }, (_, i) => shift(s.from, i))
}
