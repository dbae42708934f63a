/** The end of an 86 or a pause: by hand, with the business day, or at a time in the branch's time zone. */
export type End = 'RESTORED' | 'END_OF_DAY' | 'TIME'

/**
 * Returns the next instant with a local time such as 18:30 in a time zone: today, or tomorrow if that time has passed.
 * Undefined if the text is not a time.
 */
export function nextAt(time: string, timeZone: string, now: number): Date | undefined {
  const [, hour = '', minute = ''] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time) ?? []
  if (!hour) return undefined
  const today = localTimeOf(now, timeZone)
  for (const day of [0, 1, 2]) {
    const wanted = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + day, Number(hour), Number(minute))
    const at = instantOf(wanted, timeZone)
    if (at > now) return new Date(at)
  }
  return undefined
}

/** The local time in a time zone a few minutes from now, rounded up to five minutes. */
export function clockIn(minutes: number, timeZone: string, now: number): string {
  const step = 5 * 60_000
  const at = localTimeOf(Math.ceil((now + minutes * 60_000) / step) * step, timeZone)
  return at.toISOString().slice(11, 16)
}

/** The end in the form that the API expects; undefined while the time is missing. */
export function untilOf(end: End, time: string, timeZone: string, now: number): string | undefined {
  return end === 'TIME' ? nextAt(time, timeZone, now)?.toISOString() : end
}

// Returns a date whose UTC fields have the values of the local time in a time zone.
function localTimeOf(instant: number, timeZone: string): Date {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric',
  }).formatToParts(instant)
  const n = (type: string) => Number(parts.find((p) => p.type === type)?.value)
  return new Date(Date.UTC(n('year'), n('month') - 1, n('day'), n('hour'), n('minute'), n('second')))
}

// Twice, because the first guess may be on the other side of a daylight-saving change.
function instantOf(wall: number, timeZone: string): number {
  let at = wall
  for (let i = 0; i < 2; i++) at = wall - (localTimeOf(at, timeZone).getTime() - at)
  return at
}
