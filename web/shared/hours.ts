import { onScopeDispose, watch } from 'vue'

import { clock, language } from './i18n/catalogue'
import { serverNow } from './time'

const day = 24 * 60 * 60 * 1000
const longest = 2 ** 31 - 1 // ms; the maximum of setTimeout

/** The time of an opening in the branch's time zone, and its day unless that is today. */
export function openingOf(opensAt: string, timeZone = 'UTC', now = serverNow()): { time: string; day?: string } {
  const at = new Date(opensAt)
  const time = clock(opensAt, timeZone)
  const date = (d: Date) => d.toLocaleDateString('sv', { timeZone })
  if (date(at) === date(new Date(now))) return { time }
  // A week or more ahead, the name of the weekday would be ambiguous.
  const format: Intl.DateTimeFormatOptions = at.getTime() - now < 6 * day ? { weekday: 'long' } : { weekday: 'long', day: 'numeric', month: 'long' }
  return { time, day: new Intl.DateTimeFormat(language.value, { ...format, timeZone }).format(at) }
}

interface Changes {
  hoursChange?: string | null
  menuChange?: string | null
}

/** Reloads when the restaurant opens or closes by its hours, or offers another menu. */
export function loadAtChange(shown: () => Changes | undefined, load: () => unknown): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = watch(() => [shown()?.hoursChange, shown()?.menuChange].filter((at) => typeof at === 'string').sort()[0], (at) => {
    clearTimeout(timer)
    if (!at) return
    // One second later, because the clocks may differ a little.
    const wait = Math.max(1000, Date.parse(at) - serverNow() + 1000)
    if (wait <= longest) timer = setTimeout(load, wait)
  }, { immediate: true })
  onScopeDispose(() => {
    stop()
    clearTimeout(timer)
  })
}
