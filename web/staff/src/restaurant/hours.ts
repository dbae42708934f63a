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

export type Week = Record<Weekday, Period[]>

/** Opening hours as the form edits them. */
export interface Draft {
  always: boolean // without weekly hours
  week: Week
  exceptions: Exception[]
}

const usual: Period = { from: '11:00', to: '22:00' }

/** A copy of the periods of a day. */
export const copied = (periods: readonly Period[] | null | undefined): Period[] => (periods ?? []).map((p) => ({ ...p }))

/** The names of the days of the week in a language. */
export function weekdayNames(language: string, weekday: 'long' | 'short'): Record<Weekday, string> {
  const format = new Intl.DateTimeFormat(language, { weekday, timeZone: 'UTC' })
  // 2024-01-01 was a Monday.
  return Object.fromEntries(weekdays.map((w, n) => [w, format.format(Date.UTC(2024, 0, 1 + n))])) as Record<Weekday, string>
}

/** The weekly hours of a form for stored ones. Without any it starts with the usual ones. */
export function weekOf(weekly: Hours['weekly'], start: Period = usual): { always: boolean; week: Week } {
  const always = Object.keys(weekly).length === 0
  return { always, week: Object.fromEntries(weekdays.map((d) => [d, always ? [{ ...start }] : copied(weekly[d])])) as Week }
}

/** The weekly hours to store. */
export function weeklyOf(d: { always: boolean; week: Week }): Hours['weekly'] {
  return d.always ? {} : Object.fromEntries(weekdays.filter((w) => d.week[w].length > 0).map((w) => [w, copied(d.week[w])]))
}

/** The form for stored hours. A branch without hours starts with usual ones, which take effect once they are switched on. */
export function draftOf(h: Hours): Draft {
  return { ...weekOf(h.weekly), exceptions: (h.exceptions ?? []).map((e) => ({ date: e.date, note: e.note ?? '', periods: copied(e.periods) })) }
}

/** The day before a date. */
const dayBefore = (date: string) => new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10)

/** Whether a date can still have an effect: the hours of the day before may last past midnight. */
export const isCurrent = (date: string, today: string) => date >= dayBefore(today)

/** The hours to store, without the dates that no longer have an effect. */
export function hoursOf(d: Draft, today: string): Hours {
  const exceptions = d.exceptions
    .filter((e) => isCurrent(e.date, today))
    .map((e) => ({ date: e.date, periods: copied(e.periods), ...(e.note.trim() ? { note: e.note.trim() } : {}) }))
  return { weekly: weeklyOf(d), exceptions }
}

/** The week with the hours of one day on all days. */
export const sameOnAllDays = (week: Week, from: Weekday): Week =>
  Object.fromEntries(weekdays.map((w) => [w, copied(week[from])])) as Week

/** The week with the hours of the day before on a day. */
export const sameAsDayBefore = (week: Week, to: Weekday): Week =>
  ({ ...week, [to]: copied(week[weekdays[(weekdays.indexOf(to) + 6) % 7] as Weekday]) })

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

/** The mistakes of weekly hours by field, named as the server names fields: `weekly.mon`. */
export function weekMistakes(d: { always: boolean; week: Week }): Record<string, Mistake> {
  const found: Record<string, Mistake> = {}
  if (!d.always) {
    weekdays.forEach((w, n) => {
      const m = mistakeIn(d.week[w])
      if (m) found[`weekly.${w}`] = m
      else if (runsInto(d.week[w], d.week[weekdays[(n + 1) % 7] as Weekday])) found[`weekly.${w}`] = 'overlap'
    })
    if (weekdays.every((w) => d.week[w].length === 0)) found.weekly = 'empty'
  }
  return found
}

/** The mistakes of a form by field, named as the server names fields: `weekly.mon`, `exceptions[0].date`. */
export function mistakes(d: Draft): Record<string, Mistake> {
  const found = weekMistakes(d)
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
