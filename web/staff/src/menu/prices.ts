import { minorUnitsPerMain } from '@shared/money'

/** The API's limits of a price and a quota. */
const maxPrice = 1_000_000_000
export const maxQuota = 1_000_000

/** The reason why an amount could not be parsed. The codes are those of menu imports. */
export type PriceProblem =
  | 'price_missing' | 'price_unreadable' | 'price_ambiguous' | 'price_negative' | 'price_currency' | 'price_too_large'

// The ways to write a currency beside an amount, the longest first. The rules are those of the server's imports
// (internal/menufile/price.go); both are tested with internal/menufile/testdata/prices.json.
const symbols: [string, string[]][] = [
  ['đồng', ['VND']], ['vnđ', ['VND']], ['vnd', ['VND']], ['₫', ['VND']], ['đ', ['VND']],
  ['twd', ['TWD']], ['nt$', ['TWD']], ['nt', ['TWD']],
  ['us$', ['USD']], ['usd', ['USD']], ['$', ['USD', 'TWD']],
  ['元', ['TWD']], ['圓', ['TWD']], ['円', ['JPY']], ['jpy', ['JPY']], ['yen', ['JPY']], ['¥', ['JPY']],
  ['eur', ['EUR']], ['€', ['EUR']],
  ['sar', ['SAR']], ['sr', ['SAR']], ['ر.س.', ['SAR']], ['ر.س', ['SAR']], ['ریال', ['SAR']],
  ['thb', ['THB']], ['บาท', ['THB']], ['฿', ['THB']],
  ['£', []], ['gbp', []], ['₩', []], ['cny', []],
]

// Currencies for which people omit three zeros.
const thousands = ['nghìn', 'ngàn', 'k']

/** Parses an amount into minor units, or returns the reason why it cannot. It never guesses. */
export function parsePrice(typed: string, currency: string): number | PriceProblem {
  let s = typed.normalize('NFKC').toLowerCase().replaceAll('−', '-').replaceAll(/[\u200e\u200f]/g, '').trim()
  if (s === '') return 'price_missing'
  const found = symbols.find(([text]) => s.endsWith(text) || s.startsWith(text))
  if (found) {
    const [text, of] = found
    if (!of.includes(currency)) return 'price_currency'
    s = (s.endsWith(text) ? s.slice(0, -text.length) : s.slice(text.length)).trim()
  }
  const decimals = minorUnitsPerMain(currency) === 1 ? 0 : 2
  const suffix = decimals === 0 ? thousands.find((t) => s.endsWith(t)) : undefined
  if (suffix) s = s.slice(0, -suffix.length).trim()
  if (s.startsWith('-') && isAmount(s.slice(1).trim())) return 'price_negative'
  if (!isAmount(s)) return 'price_unreadable'
  const parts = split(s.replaceAll('’', "'"), decimals, suffix !== undefined)
  return typeof parts === 'string' ? parts : inMinorUnits(parts, decimals, suffix !== undefined)
}

const isAmount = (s: string) => /^\d([\d.,' ’]*\d)?$/.test(s)
const digits = (s: string) => s.replaceAll(/[.,' ]/g, '')

/** The digits before and after the decimal point. In short notation, such as 1.5k, a separator is always a decimal point. */
function split(s: string, decimals: number, short: boolean): [whole: string, fraction: string] | PriceProblem {
  const last = Math.max(...['.', ',', "'", ' '].map((mark) => s.lastIndexOf(mark)))
  if (last < 0) return [s, '']
  const [mark, before, after] = [s.charAt(last), s.slice(0, last), s.slice(last + 1)]
  const once = !before.includes(mark)
  const empty = /^0*$/.test(after)
  if (mark === ' ' || mark === "'" || !once) return grouped(s) ? [digits(s), ''] : 'price_unreadable'
  if (/[.,' ]/.test(before)) { // 1,234.50: the second kind of separator is the decimal point
    if (!grouped(before) || (after.length > 2 && !empty)) return 'price_unreadable'
    return after.length > 2 ? 'price_ambiguous' : [digits(before), after]
  }
  if (short) return after.length > 2 ? 'price_ambiguous' : [before, after]
  if (after.length === 3 && before.length <= 3 && before !== '0') return decimals > 0 ? 'price_ambiguous' : [before + after, '']
  if (after.length > 2) return 'price_unreadable'
  if (decimals === 0 && before.length <= 3 && empty) return 'price_ambiguous' // 65.00 may be an incomplete 65.000
  return [before, after]
}

/** Whether an amount has one kind of separator, and three digits after each. */
function grouped(s: string): boolean {
  return /^\d{1,3}(([.,' ])\d{3}(\2\d{3})*)?$/.test(s) || /^\d+$/.test(s)
}

function inMinorUnits([whole, fraction]: [string, string], decimals: number, short: boolean): number | PriceProblem {
  const [before, after] = short ? [whole + fraction.padEnd(3, '0'), ''] : [whole, fraction]
  if (!/^0*$/.test(after.slice(decimals))) return 'price_unreadable'
  const minor = `${before}${after.slice(0, decimals).padEnd(decimals, '0')}`.replace(/^0+(?=\d)/, '')
  return minor.length > 12 || Number(minor) > maxPrice ? 'price_too_large' : Number(minor)
}
