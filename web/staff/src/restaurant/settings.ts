import type { components } from '@shared/api/schema'
import { hasText, t } from '../shell/i18n'

export type Setting = components['schemas']['SettingsSetting']

/** The kind of a setting's field. Durations are stored in Go's format, such as 15m0s. */
export type Kind = 'minutes' | 'seconds' | 'number' | 'text' | 'secret'

/** The external services whose settings the server can test. */
export type Subject = components['schemas']['TestInputBody']['subject']
export type TestResult = components['schemas']['SettingsTestResult']

/** The settings, grouped by subject. */
export const groups: { name: string; test?: Subject; settings: { name: string; kind: Kind }[] }[] = [
  { name: 'address', settings: [{ name: 'public_url', kind: 'text' }] },
  {
    name: 'paying',
    settings: [
      { name: 'payment_window', kind: 'minutes' }, { name: 'counter_window', kind: 'minutes' }, { name: 'expiry_grace', kind: 'seconds' },
    ],
  },
  { name: 'kitchen', settings: [{ name: 'ticket_warn', kind: 'minutes' }, { name: 'ticket_late', kind: 'minutes' }] },
  {
    name: 'trust',
    settings: [
      { name: 'trust_expired', kind: 'number' }, { name: 'trust_no_show', kind: 'number' }, { name: 'trust_chargeback', kind: 'number' },
      { name: 'trust_days', kind: 'number' }, { name: 'trust_prepay', kind: 'number' },
    ],
  },
  {
    name: 'vnpay',
    test: 'vnpay',
    settings: [
      { name: 'vnpay_tmn_code', kind: 'text' }, { name: 'vnpay_hash_secret', kind: 'secret' }, { name: 'vnpay_pay_url', kind: 'text' },
      { name: 'vnpay_api_url', kind: 'text' },
    ],
  },
  {
    name: 'linepay',
    test: 'linepay',
    settings: [
      { name: 'linepay_channel_id', kind: 'text' }, { name: 'linepay_channel_secret', kind: 'secret' }, { name: 'linepay_url', kind: 'text' },
      { name: 'linepay_prefix', kind: 'text' },
    ],
  },
  { name: 'mail', test: 'mail', settings: [{ name: 'smtp_url', kind: 'secret' }, { name: 'mail_from', kind: 'text' }] },
]

const units: Record<string, number> = { h: 3600, m: 60, s: 1 }

/** The seconds of a duration such as 1h15m0s; NaN for any other text. */
export function secondsOf(duration: string): number {
  if (!/^(\d+(\.\d+)?[hms])+$/.test(duration)) return NaN
  let sum = 0
  for (const [, n, unit] of duration.matchAll(/([\d.]+)([hms])/g)) sum += Number(n) * (units[unit ?? ''] ?? NaN)
  return sum
}

/** The text of a field for a value. */
export function shown(value: string, kind: Kind): string {
  if (kind === 'number' || kind === 'text' || kind === 'secret') return value
  const n = secondsOf(value) / (kind === 'minutes' ? 60 : 1)
  return Number.isNaN(n) ? '' : String(n)
}

/** The value of a field's text; null for the default. */
export function valueOf(text: string, kind: Kind): string | null {
  const trimmed = text.trim()
  if (trimmed === '') return null
  if (kind === 'minutes') return `${trimmed}m`
  if (kind === 'seconds') return `${trimmed}s`
  return trimmed
}

/** The changes of a form. A secret that was left empty stays as it is. */
export function changes(settings: Setting[], form: Record<string, string>, of: { name: string; kind: Kind }[]) {
  return of.flatMap(({ name, kind }) => {
    const s = settings.find((one) => one.name === name)
    const text = form[name]
    if (!s || s.source === 'PROCESS' || text === undefined || text === (kind === 'secret' ? '' : shown(s.value, kind))) return []
    return [{ name, value: valueOf(text, kind) }]
  })
}

/**
 * The changes that remove a service with a stored secret: a payment provider is refused with a part of its values. The
 * sender of e-mails is kept. Empty if there is no stored secret.
 */
export function removal(settings: Setting[], of: { name: string; kind: Kind }[]) {
  const stored = of.filter(({ name }) => settings.some((s) => s.name === name && s.source === 'STORED'))
  if (!stored.some(({ kind }) => kind === 'secret')) return []
  return stored.filter(({ name }) => name !== 'mail_from').map(({ name }) => ({ name, value: null }))
}

/** The reasons of refused settings, by name. A code without a text is shown with the server's text. */
export function refusals(problem: { errors?: unknown }): Record<string, string> {
  const errors = (Array.isArray(problem.errors) ? problem.errors : []) as { field?: string; code?: string; message?: string }[]
  return Object.fromEntries(errors.flatMap(({ field, code, message }) => {
    const key = `restaurant.wrong_${code ?? ''}`
    return field ? [[field, hasText(key) ? t(key) : (message ?? '')]] : []
  }))
}

/** The text of a test's result. The mail server has texts of its own. */
export function resultText(subject: Subject, { code, detail }: TestResult): string {
  const own = `restaurant.test_${code}_${subject}`
  return t(hasText(own) ? own : `restaurant.test_${code}`, { name: t(`restaurant.group_${subject}`), detail })
}
