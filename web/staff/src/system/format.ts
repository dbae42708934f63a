import type { components } from '@shared/api/schema'
import { language, t } from '../shell/i18n'

type Schemas = components['schemas']

export type Letter = Schemas['SystemLetter']
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

/** Formats a number. */
export const count = (n: number) => new Intl.NumberFormat(language.value).format(n)
