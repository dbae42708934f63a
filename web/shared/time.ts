import { onScopeDispose, ref, type Ref } from 'vue'

/** Milliseconds by which the server's clock is ahead of this device's. */
let ahead: number | undefined

/** Updates the clock difference from a Date header, which has whole seconds, or from the time in an event. */
export function noteServerTime(date: string | null, now = Date.now()): void {
  const at = date ? Date.parse(date) : NaN
  if (Number.isNaN(at)) return
  const seen = at + 500 - now
  // Responses differ by rounding and by network delay. Only a larger difference replaces the known offset.
  if (ahead === undefined || Math.abs(seen - ahead) > 1500) ahead = seen
}

/** The server's time, in ms since 1970. */
export function serverNow(now = Date.now()): number {
  return now + (ahead ?? 0)
}

/** The server's time as a ref that is updated at an interval, in ms, as long as the current scope lives. */
export function useNow(every = 1_000): Ref<number> {
  const now = ref(serverNow())
  const timer = setInterval(() => {
    now.value = serverNow()
  }, every)
  onScopeDispose(() => {
    clearInterval(timer)
  })
  return now
}

/** Resets the measured offset, for tests. */
export function forgetServerTime(): void {
  ahead = undefined
}
