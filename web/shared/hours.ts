import { onScopeDispose, watch } from 'vue'

import { clock, language } from './i18n/catalogue'
import { serverNow } from './time'

const day = 24 * 60 * 60 * 1000
const longest = 2 ** 31 - 1 // ms that setTimeout accepts

/** The time of an opening on the branch's clock, and its day unless that is today. */
export function openingOf(opensAt: string, timeZone = 'UTC', now = serverNow()): { time: string; day?: string } {
  const at = new Date(opensAt)
  const time = clock(opensAt, timeZone)
  const date = (d: Date) => d.toLocaleDateString('sv', { timeZone })
  if (date(at) === date(new Date(now))) return { time }
  // From the same weekday on, the name of the weekday is ambiguous.
  const format: Intl.DateTimeFormatOptions = at.getTime() - now < 6 * day ? { weekday: 'long' } : { weekday: 'long', day: 'numeric', month: 'long' }
  return { time, day: new Intl.DateTimeFormat(language.value, { ...format, timeZone }).format(at) }
}

/** Loads again at the moment at which a restaurant opens or closes by its hours. */
export function loadAtChange(shown: () => { hoursChange?: string | null } | undefined, load: () => unknown): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = watch(() => shown()?.hoursChange, (at) => {
    clearTimeout(timer)
    if (!at) return
    // A second later, so that clocks that differ a little agree.
    const wait = Math.max(1000, Date.parse(at) - serverNow() + 1000)
    if (wait <= longest) timer = setTimeout(load, wait)
  }, { immediate: true })
  onScopeDispose(() => {
    stop()
    clearTimeout(timer)
  })
}
