import type { Language } from '@shared/i18n/languages'
import { localized } from '../menu/localized'
import { language, money, t } from '../shell/i18n'
import { roleName } from '../shell/roles'
import type { Entry } from './people'
import { useInLanguage } from './wording'

// The texts are loaded with the first page that shows them, not with the catalogue, because few users open the log.
const load: Record<Language, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import('./actions/en.json'),
  vi: () => import('./actions/vi.json'),
  'zh-Hant': () => import('./actions/zh-Hant.json'),
}

/** The names of the log's actions in the current language, by code. */
export const useActions = () => useInLanguage(load)

const sentences: typeof load = {
  en: () => import('./sentences/en.json'),
  vi: () => import('./sentences/vi.json'),
  'zh-Hant': () => import('./sentences/zh-Hant.json'),
}

/** The actions as whole sentences about {actor} and {subject}, because the word order differs between languages. */
export const useSentences = () => useInLanguage(sentences)

/** The actor's name, or the text of the log without a name. */
export function actorOf(e: Pick<Entry, 'actor' | 'actorName'>): string {
  if (['system', 'service', 'anonymous'].includes(e.actor)) return t(`people.actor_${e.actor}`)
  return e.actorName || e.actor
}

type Subject = Pick<Entry, 'subject' | 'subjectNames'> & Partial<Pick<Entry, 'before' | 'after'>>
type Said = Pick<Entry, 'action' | 'actor' | 'actorName'> & Subject

/** The subject's current name, the number of an order or stock item, a voucher's code, the settings, or the text of the log. */
export function subjectOf(e: Subject): string {
  const { number } = (e.after ?? {}) as { number?: unknown }
  if (e.subject.startsWith('order:') && typeof number === 'string') return number
  const { code } = { ...(e.before ?? {}), ...(e.after ?? {}) } as { code?: unknown }
  if (e.subject.startsWith('voucher:') && typeof code === 'string') return code
  if (e.subject.startsWith('stockItem:')) return e.subject.slice('stockItem:'.length) // its item number
  if (e.subject.startsWith('settings:')) return t('restaurant.settings')
  if (e.subject.startsWith('role:') && e.subjectNames.und) return roleName(e.subjectNames.und)
  return e.subjectNames.und || localized(e.subjectNames) || e.subject
}

interface Listed { names: Record<string, string>; price: number }

/** The dish and price in an entry; undefined for other entries and for old ones that do not name the dish. */
function listed(value: unknown): Listed | undefined {
  const given = (value ?? {}) as Partial<Listed>
  return given.names && typeof given.price === 'number' ? { names: given.names, price: given.price } : undefined
}

/** The sentence of a price change, in the branch's currency; undefined for other entries. */
function priceSentence(e: Said, currency: string): string | undefined {
  const [was, is] = [listed(e.before), listed(e.after)]
  if (e.action !== 'menu_version_edited' || !is || was?.price === is.price) return undefined
  const values = { actor: actorOf(e), dish: localized(is.names), to: money(is.price, currency) }
  return was ? t('people.audit_price', { ...values, from: money(was.price, currency) }) : t('people.audit_listed', values)
}

/** The sentence of a copied menu with both branches; undefined for other entries and for old ones that do not name them. */
function copySentence(e: Said): string | undefined {
  const { sourceBranch, targetBranch } = (e.after ?? {}) as { sourceBranch?: unknown; targetBranch?: unknown }
  if (e.action !== 'menu_imported' || typeof sourceBranch !== 'string' || typeof targetBranch !== 'string') return undefined
  return t('people.audit_copied', { actor: actorOf(e), menu: subjectOf(e), from: sourceBranch, to: targetBranch })
}

/** The sentence of an entry, or the name of its action without one. */
export function sentenceOf(e: Said, all: Record<string, string> = {}, actions: Record<string, string> = {}, currency = ''): string {
  const detailed = copySentence(e) ?? (currency ? priceSentence(e, currency) : undefined)
  if (detailed) return detailed
  const values: Record<string, string> = { actor: actorOf(e), subject: subjectOf(e) }
  return (all[e.action] ?? actions[e.action] ?? e.action).replace(/\{(actor|subject)\}/g, (_, name: string) => values[name] ?? '')
}

/** The selectable actions, sorted by name. */
export function choices(actions: Record<string, string> = {}): { title: string; value: string }[] {
  const order = new Intl.Collator(language.value)
  return Object.entries(actions).map(([value, title]) => ({ title, value })).sort((a, b) => order.compare(a.title, b.title))
}

/** The values that are not blank, trimmed. */
export function filled<T extends Record<string, string>>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).map(([k, v]) => [k, v.trim()]).filter(([, v]) => v)) as Partial<T>
}

/** The instants at the start of the first day and the end of the last, in the device's time zone. An empty day sets no bound. */
export function dayBounds(from: string, to: string): { from?: string; to?: string } {
  const start = from ? new Date(`${from}T00:00:00`) : undefined
  const end = to ? new Date(`${to}T00:00:00`) : undefined
  end?.setDate(end.getDate() + 1)
  return { ...(start ? { from: start.toISOString() } : {}), ...(end ? { to: end.toISOString() } : {}) }
}

/** A value as indented JSON, with names of roles; empty for a missing value. */
export function pretty(value: unknown): string {
  const named = (key: string, part: unknown) => (key === 'role' && typeof part === 'string' ? roleName(part) : part)
  return value === null || value === undefined ? '' : JSON.stringify(value, named, 2)
}
