import type { components } from '@shared/api/schema'

import { weekdays, weekdayNames, weeklyOf, weekMistakes, weekOf, type Mistake, type Period, type Week } from '../restaurant/hours'

export type Schedule = components['schemas']['CatalogMenuSchedule']
type Kind = NonNullable<Schedule['kinds']>[number]

/** The priority of a menu that replaces the others while it is offered. */
export const instead = 10

const lunch: Period = { from: '11:00', to: '14:00' }

/** A schedule as the form edits it. */
export interface ScheduleDraft {
  always: boolean // at all hours
  week: Week
  from: string
  through: string
  kinds: Kind[]
  priority: number
}

/** The form for a stored schedule. A menu without hours starts with those of lunch, once they are switched on. */
export function scheduleDraft(s: Schedule): ScheduleDraft {
  return { ...weekOf(s.weekly, lunch), from: s.fromDate, through: s.throughDate, kinds: [...(s.kinds ?? [])], priority: s.priority }
}

/** The schedule to store. */
export function scheduleOf(d: ScheduleDraft): Schedule {
  return { weekly: weeklyOf(d), fromDate: d.from, throughDate: d.through, kinds: [...d.kinds], priority: d.priority }
}

/** The mistakes of a form by field, named as the server names fields. */
export function scheduleMistakes(d: ScheduleDraft): Record<string, Mistake | 'order'> {
  const found: Record<string, Mistake | 'order'> = weekMistakes(d)
  if (d.from && d.through && d.through < d.from) found.throughDate = 'order'
  return found
}

/** The weekly hours of a schedule in words: days with the same hours in one part, such as `Mon–Fri 11:00–14:00`. */
export function weeklyText(weekly: Schedule['weekly'], language: string): string {
  const names = weekdayNames(language, 'short')
  const hours = weekdays.map((w) => (weekly[w] ?? []).map((p) => `${p.from}–${p.to}`).join(', '))
  const parts: string[] = []
  for (let first = 0; first < weekdays.length; ) {
    let last = first
    while (last + 1 < weekdays.length && hours[last + 1] === hours[first]) last++
    const [a, b] = [names[weekdays[first] ?? 'mon'], names[weekdays[last] ?? 'mon']]
    if (hours[first]) parts.push(`${first === last ? a : `${a}–${b}`} ${hours[first] ?? ''}`)
    first = last + 1
  }
  return parts.join(' · ')
}
