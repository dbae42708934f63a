import type { components } from '@shared/api/schema'
import { openingOf } from '@shared/hours'
import { ageOf, columnOf, urgencyOf, type Board } from '../board/boardLayout'
import type { Branch } from '../shell/branch'
import { t } from '../shell/i18n'

type Hourly = Pick<components['schemas']['ReportHourly'], 'hour' | 'gross'>

/**
 * The sales of a finished day up to this time of the day. Hours before the start of the business day are its last ones. The
 * current hour counts in proportion to the minutes passed, because the report has no smaller steps.
 */
export function byNow(hours: readonly Hourly[], hour: number, minute: number, dayStart: number): number {
  const place = (h: number) => (h - dayStart + 24) % 24
  const sum = hours.reduce((all, { hour: h, gross }) => {
    if (place(h) < place(hour)) return all + gross
    return h === hour ? all + (gross * minute) / 60 : all
  }, 0)
  return Math.round(sum)
}

/** The growth as a share; undefined if the earlier value is 0. */
export function growth(now: number, before: number): number | undefined {
  return before > 0 ? now / before - 1 : undefined
}

/** The local hour and minute of an instant in a time zone. */
export function timeAt(instant: number, timeZone: string): { hour: number; minute: number } {
  const parts = new Intl.DateTimeFormat('en', { hour: 'numeric', minute: 'numeric', hourCycle: 'h23', timeZone }).formatToParts(instant)
  const part = (type: string) => Number(parts.find((p) => p.type === type)?.value)
  return { hour: part('hour'), minute: part('minute') }
}

/** The text that a branch is closed by its hours, with its next opening; empty while it is open or switched off. */
export function closedNow(b: Pick<Branch, 'isOpen' | 'isOpenNow' | 'hoursChange' | 'timezone'>, now?: number): string {
  if (!b.isOpen || b.isOpenNow) return ''
  if (!b.hoursChange) return t('restaurant.hours_closed')
  const { time, day } = openingOf(b.hoursChange, b.timezone, now)
  return day ? t('restaurant.closed_until_day', { time, day }) : t('restaurant.closed_until', { time })
}

/** The earliest instant at which one of the branches opens or closes by its hours. */
export function nextChange(all: readonly Pick<Branch, 'hoursChange'>[]): string | undefined {
  const changes = all.flatMap((b) => (b.hoursChange ? [b.hoursChange] : []))
  return changes.sort((a, b) => Date.parse(a) - Date.parse(b))[0]
}

/** The orders in the kitchen and the late ones among them, at the time of the board. */
export function kitchenOf(board: Board): { open: number; late: number } {
  const open = board.tickets.filter((t) => !t.voided && columnOf(t) !== 'served')
  const late = open.filter((t) => urgencyOf(ageOf(t, Date.parse(board.now)), board.thresholds) === 'late')
  return { open: open.length, late: late.length }
}
