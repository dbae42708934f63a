/** The end of an 86 or a pause: by hand, with the business day, or at a time on the branch's clock. */
export type End = 'RESTORED' | 'END_OF_DAY' | 'TIME'

/**
 * The next instant at which the clock of a time zone shows a time such as 18:30: today's, or tomorrow's when that is
 * over. Undefined for what is no time.
 */
export function nextAt(time: string, timeZone: string, now: number): Date | undefined {
  const [, hour = '', minute = ''] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time) ?? []
  if (!hour) return undefined
  const today = wallOf(now, timeZone)
  for (const day of [0, 1, 2]) {
    const wanted = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + day, Number(hour), Number(minute))
    const at = instantOf(wanted, timeZone)
    if (at > now) return new Date(at)
  }
  return undefined
}

/** The time on the clock of a time zone, some minutes from now, to the next five minutes. */
export function clockIn(minutes: number, timeZone: string, now: number): string {
  const step = 5 * 60_000
  const at = wallOf(Math.ceil((now + minutes * 60_000) / step) * step, timeZone)
  return at.toISOString().slice(11, 16)
}

/** The end as the API takes it; undefined while no time is named. */
export function untilOf(end: End, time: string, timeZone: string, now: number): string | undefined {
  return end === 'TIME' ? nextAt(time, timeZone, now)?.toISOString() : end
}

// The local time in a time zone, as a date whose UTC fields have its values.
function wallOf(instant: number, timeZone: string): Date {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric',
  }).formatToParts(instant)
  const n = (type: string) => Number(parts.find((p) => p.type === type)?.value)
  return new Date(Date.UTC(n('year'), n('month') - 1, n('day'), n('hour'), n('minute'), n('second')))
}

// Twice, because the first guess may be on the other side of a daylight-saving change.
function instantOf(wall: number, timeZone: string): number {
  let at = wall
  for (let i = 0; i < 2; i++) at = wall - (wallOf(at, timeZone).getTime() - at)
  return at
}
