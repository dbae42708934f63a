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
