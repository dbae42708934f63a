import { minorUnitsPerMain } from '@shared/money'

// The common banknotes of some currencies, in minor units. Other currencies use those of the dollar.
const notes: Record<string, number[]> = {
  VND: [10_000, 20_000, 50_000, 100_000, 200_000, 500_000],
  TWD: [100, 500, 1000],
  JPY: [1000, 5000, 10_000],
}
const likeDollars = [500, 1000, 2000, 5000, 10_000]

/** The probable amounts that a guest hands over: the total, or the total rounded up to whole notes; at most four. */
export function likelyAmounts(total: number, currency: string): number[] {
  const rounded = (notes[currency] ?? likeDollars).map((note) => Math.ceil(total / note) * note)
  return [...new Set([total, ...rounded])].sort((a, b) => a - b).slice(0, 4)
}

/** The change due; undefined while the amount is too small. */
export function changeOf(total: number, given: number | null | undefined): number | undefined {
  if (given === null || given === undefined || !Number.isSafeInteger(given) || given < total) return undefined
  return given - total
}

/** Parses a typed amount into minor units: 12.50 dollars are 1250. Undefined for a text that is not an amount. */
export function minorUnits(typed: string, currency: string): number | undefined {
  const per = minorUnitsPerMain(currency)
  const plain = typed.replaceAll(/\s/g, '')
  // Without a minor unit, points and commas only group digits: 130.000 and 130,000.
  const text = per === 1 ? plain.replaceAll(/[.,](?=\d{3}(\D|$))/g, '') : plain.replace(',', '.')
  if (!(per === 1 ? /^\d{1,12}$/ : /^\d{1,10}(\.\d{1,2})?$/).test(text)) return undefined
  return Math.round(Number(text) * per)
}
