import type { Language } from '@shared/i18n/languages'
import { localized } from '../menu/localized'
import { language, money, t } from '../shell/i18n'
import type { Entry } from './people'
import { useInLanguage } from './wording'

// They are loaded with the first page that shows them, not with the catalogue: few users open the log.
const load: Record<Language, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import('./actions/en.json'),
  vi: () => import('./actions/vi.json'),
  'zh-Hant': () => import('./actions/zh-Hant.json'),
}

/** What the language that is shown calls the actions of the log, by their codes. */
export const useActions = () => useInLanguage(load)

const sentences: typeof load = {
  en: () => import('./sentences/en.json'),
  vi: () => import('./sentences/vi.json'),
  'zh-Hant': () => import('./sentences/zh-Hant.json'),
}

/** The actions as whole sentences about {actor} and {subject}, because languages order them differently. */
export const useSentences = () => useInLanguage(sentences)

/** The actor: by name, or else as in the log. */
export function actorOf(e: Pick<Entry, 'actor' | 'actorName'>): string {
  if (e.actor === 'system' || e.actor === 'service') return t(`people.actor_${e.actor}`)
  return e.actorName || e.actor
}

type Subject = Pick<Entry, 'subject' | 'subjectNames'> & Partial<Pick<Entry, 'before' | 'after'>>
type Said = Pick<Entry, 'action' | 'actor' | 'actorName'> & Subject

/** The subject: by its current name, an order by its number, or else as in the log. */
export function subjectOf(e: Subject): string {
  const { number } = (e.after ?? {}) as { number?: unknown }
  if (e.subject.startsWith('order:') && typeof number === 'string') return number
  return e.subjectNames.und || localized(e.subjectNames) || e.subject
}

interface Listed { names: Record<string, string>; price: number }

/** The price of a dish in an entry; undefined in other entries and in those from before they named the dish. */
function listed(value: unknown): Listed | undefined {
  const given = (value ?? {}) as Partial<Listed>
  return given.names && typeof given.price === 'number' ? { names: given.names, price: given.price } : undefined
}

/** A change of a price from and to, in the currency of its branch; undefined for other entries. */
function priceSentence(e: Said, currency: string): string | undefined {
  const [was, is] = [listed(e.before), listed(e.after)]
  if (e.action !== 'menu_version_edited' || !is || was?.price === is.price) return undefined
  const values = { actor: actorOf(e), dish: localized(is.names), to: money(is.price, currency) }
  return was ? t('people.audit_price', { ...values, from: money(was.price, currency) }) : t('people.audit_listed', values)
}

/** An entry as a sentence, or else the name of its action. */
export function sentenceOf(e: Said, all: Record<string, string> = {}, actions: Record<string, string> = {}, currency = ''): string {
  const price = currency ? priceSentence(e, currency) : undefined
  if (price) return price
  const values: Record<string, string> = { actor: actorOf(e), subject: subjectOf(e) }
  return (all[e.action] ?? actions[e.action] ?? e.action).replace(/\{(actor|subject)\}/g, (_, name: string) => values[name] ?? '')
}

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
