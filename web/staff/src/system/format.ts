import type { components } from '@shared/api/schema'
import { language, moment, t } from '../shell/i18n'

type Schemas = components['schemas']

export type Letter = Schemas['SystemLetter']
export type Email = Schemas['SystemMail']
export type SizedKey = Schemas['KeyauditKey']
export type Replayed = Pick<Schemas['SystemReplayAllBody'], 'relayed' | 'applied' | 'failed' | 'revived'>

/** Formats seconds in the largest unit that fits at least once. */
export function duration(seconds: number): string {
  const units = [['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]] as const
  const [unit, length] = units.find(([, l]) => seconds >= l) ?? ['second', 1]
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 })
    .format(Math.floor(seconds / length))
}

/** The text about the result of a replay. */
export function replayResult(r: Replayed): string {
  const on = r.relayed + r.applied + r.revived
  return [on > 0 ? t('system.replayed_on', { count: on }) : '', r.failed > 0 ? t('system.replayed_failed', { count: r.failed }) : '']
    .filter(Boolean).join(' ') || t('system.replayed_none')
}

/** The colour of a status. */
export function statusColour(status: string): string {
  return { ok: 'success', degraded: 'warning' }[status] ?? 'error'
}

/** Formats bytes in the largest unit that fits at least once. */
export function size(bytes: number): string {
  const units = [['gigabyte', 1e9], ['megabyte', 1e6], ['kilobyte', 1e3], ['byte', 1]] as const
  const [unit, length] = units.find(([, l]) => bytes >= l) ?? ['byte', 1]
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, maximumFractionDigits: 1 }).format(bytes / length)
}

/** How full a Redis server is, and whether it has evicted keys. */
export function memoryText(s: Pick<Schemas['RedisdbServerMemory'], 'usedBytes' | 'limitBytes' | 'evictedKeys'>): string {
  const percent = new Intl.NumberFormat(language.value, { style: 'percent', maximumFractionDigits: 0 })
  return [
    s.limitBytes > 0
      ? t('system.memory_of', { used: size(s.usedBytes), limit: size(s.limitBytes), share: percent.format(s.usedBytes / s.limitBytes) })
      : t('system.memory_unlimited', { used: size(s.usedBytes) }),
    t('system.evicted', { count: s.evictedKeys }),
  ].join(' · ')
}

/** The longest sets, sorted sets and hashes of all kinds of keys. Strings are in the list of the largest keys. */
export function longestSets(families: Pick<Schemas['KeyauditFamily'], 'longest'>[]): SizedKey[] {
  return families.flatMap((f) => f.longest).filter((k) => k.type !== 'string').sort((a, b) => b.length - a.length).slice(0, 10)
}

// The templates that this release knows. One of a newer server is shown by its name.
const templates = [
  'order_received', 'order_paid', 'order_canceled', 'order_expired', 'order_refunded', 'order_ready', 'verify', 'reset', 'welcome',
  'email_change', 'email_changed', 'new_device', 'password_reset', 'google_connected', 'google_disconnected', 'news',
  'reminder',
]

/** What an e-mail is about. */
export function emailTitle(e: Pick<Email, 'template'>): string {
  return templates.includes(e.template) ? t(`system.mail_${e.template}`) : e.template
}

/** How often an e-mail was tried, and when it is tried again. */
export function emailProgress(e: Pick<Email, 'state' | 'attempts' | 'dueAt'>): string {
  return [
    e.attempts > 0 ? t('system.mail_attempts', { count: e.attempts }) : '',
    e.state === 'WAITING' ? t('system.mail_due', { time: moment(e.dueAt) }) : '',
  ].filter(Boolean).join(' · ')
}
