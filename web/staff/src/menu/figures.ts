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

/**
 * The typed price and quota of a dish after its line has arrived. Empty fields show the line's values, so that the user sees a
 * quota before it is sent.
 */
export function withLine(typed: Figures, line: { price: number; dailyQuota: number | null }, currency: string): Figures {
  return {
    price: typed.price === '' ? typedAmount(line.price, currency) : typed.price,
    quota: typed.quota === '' && line.dailyQuota !== null ? String(line.dailyQuota) : typed.quota,
  }
}

interface Figures { price: string; quota: string }
