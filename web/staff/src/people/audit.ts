import type { Language } from '@shared/i18n/languages'
import { language } from '../shell/i18n'
import { useInLanguage } from './wording'

// They come with the first page that shows them, and not with the catalogue: few people ever look at the log.
const load: Record<Language, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import('./actions/en.json'),
  vi: () => import('./actions/vi.json'),
  'zh-Hant': () => import('./actions/zh-Hant.json'),
}

/** What the language that is shown calls the actions of the log, by their codes. */
export const useActions = () => useInLanguage(load)

/** The actions to choose from, in the order of their names. */
export function choices(actions: Record<string, string> = {}): { title: string; value: string }[] {
  const order = new Intl.Collator(language.value)
  return Object.entries(actions).map(([value, title]) => ({ title, value })).sort((a, b) => order.compare(a.title, b.title))
}

/** The values that say something, without the spaces around them. */
export function filled<T extends Record<string, string>>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).map(([k, v]) => [k, v.trim()]).filter(([, v]) => v)) as Partial<T>
}

/** The instants between two days of this device's calendar, both meant; a day that is not said leaves its side open. */
export function dayBounds(from: string, to: string): { from?: string; to?: string } {
  const start = from ? new Date(`${from}T00:00:00`) : undefined
  const end = to ? new Date(`${to}T00:00:00`) : undefined
  end?.setDate(end.getDate() + 1)
  return { ...(start ? { from: start.toISOString() } : {}), ...(end ? { to: end.toISOString() } : {}) }
}

/** What was there as text of several lines; empty where there was nothing. */
export function pretty(value: unknown): string {
  return value === null || value === undefined ? '' : JSON.stringify(value, null, 2)
}
