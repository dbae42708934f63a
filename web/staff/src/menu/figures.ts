import { minorUnitsPerMain } from '@shared/money'

/** Parses a whole number: null for an empty text, undefined for any other text or a number above the limit. */
export function whole(typed: string, most: number): number | null | undefined {
  const text = typed.trim()
  if (text === '') return null
  if (!/^\d{1,12}$/.test(text)) return undefined
  const n = Number(text)
  return n <= most ? n : undefined
}

/** Formats an amount in minor units as it would be typed. */
export function typedAmount(amount: number, currency: string): string {
  return minorUnitsPerMain(currency) === 1 ? String(amount) : (amount / minorUnitsPerMain(currency)).toFixed(2)
}
