/** Currencies without a minor unit in use, as the server counts them (Intl gives TWD two decimals). */
const whole = new Set(['VND', 'TWD', 'JPY'])

const formats = new Map<string, Intl.NumberFormat>()

/** Writes an amount in minor units as people of the locale read it: 130.000 ₫, NT$440, $12.50. */
export function formatMoney(amount: number, currency: string, locale: string): string {
  const digits = whole.has(currency) ? 0 : 2
  const key = `${locale} ${currency}`
  let format = formats.get(key)
  if (!format) {
    format = new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      currencyDisplay: locale === 'zh-Hant' && currency === 'TWD' ? 'narrowSymbol' : 'symbol',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    })
    formats.set(key, format)
  }
  return format.format(amount / 10 ** digits)
}
