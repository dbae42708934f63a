import { language, money } from '../shell/i18n'

// The data of a report, independent of how it is drawn. Every chart has a table with the same figures.
export type Cell = string | number | null
export type Kind = 'text' | 'date' | 'number' | 'money' | 'share' | 'time'

export interface Column {
  text: string
  kind: Kind
}

export interface Series {
  name: string
  values: (number | null)[]
}

export interface Bars {
  kind: 'bars' | 'lines' | 'rows' // rows are horizontal bars, the first on top
  names: string[]
  series: Series[]
  measure: Kind
  stacked?: boolean
}

export interface Heat {
  kind: 'heat'
  names: string[] // from left to right
  down: string[] // from top to bottom
  cells: [x: number, y: number, value: number][]
  measure: Kind
}

export type Chart = Bars | Heat

export interface Figure {
  title: string
  chart?: Chart | undefined
  columns: Column[]
  rows: Cell[][]
}

export interface Tile {
  text: string
  value: Cell
  kind: Kind
}

export interface Shown {
  tiles: Tile[]
  figures: Figure[]
  total?: number // number of rows on all pages, for paged lists
}

/** Formats a value: amounts are in minor units of the currency, times in milliseconds, shares from 0 to 1. */
export function said(value: Cell, kind: Kind, currency: string): string {
  if (value === null || value === '') return '–'
  if (typeof value === 'string') return kind === 'date' ? dateText(value) : value
  switch (kind) {
    case 'money': return money(value, currency)
    case 'share': return format({ style: 'percent', maximumFractionDigits: 1 }).format(value)
    case 'time': return format({ style: 'unit', unit: 'minute', unitDisplay: 'short', maximumFractionDigits: 1 }).format(value / 60_000)
    default: return format({}).format(value)
  }
}

/** Formats a value in a short form for the axis of a chart. */
export function brief(value: number, kind: Kind, currency: string): string {
  if (kind !== 'money') return said(value, kind, currency)
  const whole = ['VND', 'TWD', 'JPY'].includes(currency)
  return format({ style: 'currency', currency, currencyDisplay: 'narrowSymbol', notation: 'compact', maximumFractionDigits: 1 })
    .format(whole ? value : value / 100)
}

const format = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(language.value, options)

/** Formats a business date. */
export function dateText(date: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(date))
}

/** Formats a business date without its year. */
export function dayText(date: string): string {
  return new Intl.DateTimeFormat(language.value, { day: 'numeric', month: 'numeric', timeZone: 'UTC' }).format(new Date(date))
}

/** A day of the week, 1 for Monday to 7. */
export function weekdayText(day: number, width: 'short' | 'long' = 'long'): string {
  return new Intl.DateTimeFormat(language.value, { weekday: width, timeZone: 'UTC' }).format(new Date(Date.UTC(2024, 0, day)))
}

/** An hour of the day, 0 to 23. */
export function hourText(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`
}
