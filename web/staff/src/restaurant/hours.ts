import type { components } from '@shared/api/schema'

export type Hours = components['schemas']['CatalogOpeningHours']
export type Period = components['schemas']['CatalogPeriod']

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof weekdays)[number]

export const maxPeriods = 4
export const maxExceptions = 100

export interface Exception {
  date: string
  note: string
  periods: Period[]
}

/** Opening hours as the form edits them. */
export interface Draft {
  always: boolean // without weekly hours
  week: Record<Weekday, Period[]>
  exceptions: Exception[]
}

const usual: Period = { from: '11:00', to: '22:00' }
const copy = (periods: readonly Period[] | null | undefined): Period[] => (periods ?? []).map((p) => ({ ...p }))

/** The form for stored hours. A branch without hours starts with usual ones, which take effect once they are switched on. */
export function draftOf(h: Hours): Draft {
  const always = Object.keys(h.weekly).length === 0
  const week = Object.fromEntries(weekdays.map((d) => [d, always ? [{ ...usual }] : copy(h.weekly[d])])) as Draft['week']
  return { always, week, exceptions: (h.exceptions ?? []).map((e) => ({ date: e.date, note: e.note ?? '', periods: copy(e.periods) })) }
}

/** The hours to store. Dates in the past have no effect any more. */
export function hoursOf(d: Draft, today: string): Hours {
  const weekly = d.always ? {} : Object.fromEntries(weekdays.filter((w) => d.week[w].length > 0).map((w) => [w, copy(d.week[w])]))
  const exceptions = d.exceptions
    .filter((e) => e.date >= today)
    .map((e) => ({ date: e.date, periods: copy(e.periods), ...(e.note.trim() ? { note: e.note.trim() } : {}) }))
  return { weekly, exceptions }
}

/** Copies the hours of a day to all others. */
export function copyToAll(d: Draft, from: Weekday): void {
  for (const w of weekdays) if (w !== from) d.week[w] = copy(d.week[from])
}

/** Copies the hours of the day before. */
export function copyFromDayBefore(d: Draft, to: Weekday): void {
  const n = weekdays.indexOf(to)
  d.week[to] = copy(d.week[weekdays[(n + 6) % 7] as Weekday])
}

/** A period to add after those of a day. */
export function nextPeriod(periods: readonly Period[]): Period {
  const last = periods.at(-1)
  return last && last.to < '17:00' && last.to > last.from ? { from: '17:00', to: '22:00' } : last ? { from: '', to: '' } : { ...usual }
}

export type Mistake = 'time' | 'overlap' | 'date' | 'twice' | 'empty'

const minute = (s: string) => Number(s.slice(0, 2)) * 60 + Number(s.slice(3, 5))
const spans = (periods: readonly Period[]) =>
  periods.map((p) => ({ from: minute(p.from), to: p.to > p.from ? minute(p.to) : minute(p.to) + 1440 })).sort((a, b) => a.from - b.from)

function mistakeIn(periods: readonly Period[]): Mistake | undefined {
  if (periods.some((p) => !/^\d\d:\d\d$/.test(p.from) || !/^\d\d:\d\d$/.test(p.to))) return 'time'
  return spans(periods).some((s, i, all) => i > 0 && s.from < (all[i - 1]?.to ?? 0)) ? 'overlap' : undefined
}

/** Whether the last period of a day overlaps the first one of the next day. */
function runsInto(day: readonly Period[], next: readonly Period[]): boolean {
  const last = spans(day).at(-1)
  const first = spans(next)[0]
  return Boolean(last && first && last.to > first.from + 1440)
}

/** The mistakes of a form by field, named as the server names fields: `weekly.mon`, `exceptions[0].date`. */
export function mistakes(d: Draft): Record<string, Mistake> {
  const found: Record<string, Mistake> = {}
  if (!d.always) {
    weekdays.forEach((w, n) => {
      const m = mistakeIn(d.week[w])
      if (m) found[`weekly.${w}`] = m
      else if (runsInto(d.week[w], d.week[weekdays[(n + 1) % 7] as Weekday])) found[`weekly.${w}`] = 'overlap'
    })
    if (weekdays.every((w) => d.week[w].length === 0)) found.weekly = 'empty'
  }
  d.exceptions.forEach((e, i) => {
    const m = mistakeIn(e.periods)
    if (m) found[`exceptions[${i}].periods`] = m
    if (!e.date) found[`exceptions[${i}].date`] = 'date'
    else if (d.exceptions.findIndex((o) => o.date === e.date) < i) found[`exceptions[${i}].date`] = 'twice'
  })
  return found
}

/** The form's field for the `field` of the server's problem. */
export function refusedField(field: unknown): string {
  return typeof field === 'string' ? field.replace(/^openingHours\./, '').replace(/(weekly\.\w+|periods)\[\d+\]$/, '$1') : ''
}
