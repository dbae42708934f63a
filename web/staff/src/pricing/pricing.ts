import type { components } from '@shared/api/schema'

type Schemas = components['schemas']

export type Pricing = Schemas['CatalogPricing']
export type TaxRate = Schemas['CatalogTaxRate']
export type TaxRule = Schemas['CatalogTaxRule']
export type Charge = Schemas['CatalogChargeRule']
export type DiscountKind = Schemas['CatalogDiscountKind']
export type TaxClass = Schemas['CatalogTaxClass']
export type QuoteInput = Schemas['PriceInput']
export type Voucher = Schemas['OrderingVoucher']

export const kinds = ['DINE_IN', 'PICKUP', 'DELIVERY'] as const
export type Kind = (typeof kinds)[number]

/** Whether a discount has a value of its own; of others the staff enter it. */
export const fixed = (k: DiscountKind): boolean => k.type === 'COMP' || Boolean(k.percent) || k.amount !== undefined

/** The vouchers that guests can still use and that a change of the discounts stops: theirs is gone, or has no value any more. */
export function stopped(vouchers: readonly Voucher[], before: readonly DiscountKind[], after: readonly DiscountKind[], today: string): Voucher[] {
  const given = (all: readonly DiscountKind[], v: Voucher) => all.some((k) => k.code === v.discount && fixed(k))
  return vouchers.filter((v) => given(before, v) && !given(after, v) && (!v.until || v.until >= today) && (!v.maxUses || v.used < v.maxUses))
}

/** A branch's pricing as the form edits it. */
export type Form = Pricing

/** A copy of a branch's pricing for the form, which edits it in place. */
export function formOf(p: Pricing): Form {
  return JSON.parse(JSON.stringify(p)) as Form // a plain copy, also of a reactive object
}

/** An amount of the form; NaN if the typed text is none. */
export const amountOf = (typed: number | string): number => (typeof typed === 'number' ? typed : Number.NaN)

/** The rows of the form whose typed amount is none, as fields of the request. */
export function unreadable(form: Pick<Form, 'serviceCharges' | 'discounts'>): string[] {
  const lists = ['serviceCharges', 'discounts'] as const
  return lists.flatMap((list) => form[list].flatMap((row, at) => (Number.isNaN(row.amount) ? [`${list}[${at}]`] : [])))
}

/** A copy without some of its properties. */
export function without<T extends object, K extends keyof T>(of: T, ...keys: K[]): Omit<T, K> {
  return Object.fromEntries(Object.entries(of).filter(([k]) => !keys.includes(k as K))) as Omit<T, K>
}

/** The codes of the rates, each once. */
export const codesOf = (rates: readonly TaxRate[]): string[] => [...new Set(rates.map((r) => r.code).filter(Boolean))]

/** The rate that a rule assigns to a class; '' if there is none. Without a kind it is the rule for all kinds. */
export function ruleOf(rules: readonly TaxRule[], taxClass: string, kind?: Kind): string {
  return rules.find((r) => r.taxClass === taxClass && (r.kind ?? '') === (kind ?? ''))?.rate ?? ''
}

/** The rules with another rate for a class; '' removes the rule. */
export function withRule(rules: readonly TaxRule[], taxClass: string, kind: Kind | undefined, rate: string): TaxRule[] {
  const rest = rules.filter((r) => r.taxClass !== taxClass || (r.kind ?? '') !== (kind ?? ''))
  return rate ? [...rest, { taxClass, ...(kind && { kind }), rate }] : rest
}

/** A percentage as it is typed, with a comma or a point; undefined if it is none. */
export function typedPercent(typed: string): string | undefined {
  const text = typed.replaceAll(/[\s%]/g, '').replace(',', '.')
  return /^(100(\.0{1,4})?|\d{1,2}(\.\d{1,4})?)$/.test(text) ? text : undefined
}

/** The percentage of a rate on a date; undefined if no entry is valid then. */
export function percentOn(rates: readonly TaxRate[], code: string, date: string): string | undefined {
  return rates.find((r) => r.code === code && (r.validFrom ?? '') <= date && (!r.validTo || date <= r.validTo))?.percent
}

/** The tax classes without a rate for some kind of orders. Without rates nothing is taxed, so that none is missing. */
export function untaxed(form: Pick<Form, 'rates' | 'rules'>, classes: readonly TaxClass[]): TaxClass[] {
  if (form.rates.length === 0) return []
  const has = (c: TaxClass, k?: Kind) => ruleOf(form.rules, c.code, k) !== ''
  return classes.filter((c) => c.dishes > 0 && !has(c) && !kinds.every((k) => has(c, k)))
}

/** What a price lab computes: lines with their tax class, as an order of a kind on a date. */
export function quoteInput(
  form: Form, currency: string, kind: Kind, date: string, lines: readonly { unitPrice: number; qty: number; taxClass: string | null }[],
  discount?: DiscountKind,
): QuoteInput {
  const rateOf = (c: string | null) => {
    const code = c ? ruleOf(form.rules, c, kind) || ruleOf(form.rules, c) : ''
    return code ? percentOn(form.rates, code, date) : undefined
  }
  const charges = form.serviceCharges.filter((c) => !c.kinds?.length || c.kinds.includes(kind))
  return {
    currency: currency as QuoteInput['currency'], priceMode: form.priceMode, taxScope: form.taxScope, taxRounding: form.taxRounding,
    discountRounding: form.discountRounding,
    lines: lines.map(({ unitPrice, qty, taxClass }) => {
      const rate = rateOf(taxClass)
      return { unitPrice, qty, ...(rate && { rate }) }
    }),
    serviceCharges: charges.map(({ percent, amount, base, taxed }) => ({
      ...(percent && { percent }), ...(amount !== undefined && { amount }), ...(base && { base }), taxed: taxed ?? false,
    })),
    ...(discount && { discounts: [discount.type === 'COMP' ? { percent: '100' } : discount.type === 'AMOUNT' ? { amount: discount.amount ?? 0 } : { percent: discount.percent ?? '0' }] }),
  }
}

/** The tax class that all dishes have; null if none has one, undefined if they differ. */
export function commonClass(dishes: { taxClass: string | null }[]): string | null | undefined {
  const codes = new Set(dishes.map((d) => d.taxClass || null))
  return codes.size > 1 ? undefined : [...codes][0]
}
