/** The currencies that the server counts without a minor unit. Intl differs: TWD has two decimals there. */
const whole = new Set(['VND', 'TWD', 'JPY'])

/** The number of minor units in the currency's main unit; 1 if the minor unit is not used. */
export const minorUnitsPerMain = (currency: string): number => (whole.has(currency) ? 1 : 100)

const formats = new Map<string, Intl.NumberFormat>()

/** Formats an amount in minor units for a locale: 130.000 ₫, NT$440, $12.50. */
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
