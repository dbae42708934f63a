import { expect, test } from 'vitest'

import {
  amountOf, commonClass, formOf, percentOn, quoteInput, ruleOf, stopped, typedPercent, unreadable, untaxed, withRule, type DiscountKind, type Form, type TaxClass, type Voucher,
} from './pricing'

const form: Form = formOf({
  priceMode: 'INCLUSIVE', taxScope: 'BILL', taxRounding: 'HALF_UP', discountRounding: 'HALF_UP',
  rates: [{ code: 'VAT', percent: '8', validTo: '2026-12-31' }, { code: 'VAT', percent: '10', validFrom: '2027-01-01' }, { code: 'LOW', percent: '5' }],
  rules: [{ taxClass: 'FOOD', rate: 'VAT' }, { taxClass: 'FOOD', kind: 'PICKUP', rate: 'LOW' }],
  serviceCharges: [{ names: { en: 'Service' }, percent: '10', kinds: ['DINE_IN'], taxed: true }], discounts: [],
})

test.each([['8', '8'], ['8,875 %', '8.875'], ['100', '100'], ['100.1', undefined], ['-1', undefined], ['1.23456', undefined], ['', undefined]])(
  'the typed percentage %j is %j', (typed, want) => { expect(typedPercent(typed)).toBe(want) },
)

test('a rule is replaced, removed, and independent of the rules of other kinds', () => {
  expect(ruleOf(withRule(form.rules, 'FOOD', undefined, 'LOW'), 'FOOD'), 'replaced').toBe('LOW')
  expect(ruleOf(withRule(form.rules, 'FOOD', undefined, 'LOW'), 'FOOD', 'PICKUP'), 'another kind').toBe('LOW')
  expect(withRule(form.rules, 'FOOD', 'PICKUP', ''), 'removed').toEqual([{ taxClass: 'FOOD', rate: 'VAT' }])
})

test.each([['2026-12-31', '8'], ['2027-01-01', '10']])('on %s the rate is %s %%', (date, want) => {
  expect(percentOn(form.rates, 'VAT', date)).toBe(want)
})

test('a class with dishes needs a rate for every kind of orders', () => {
  const classes = [
    { code: 'FOOD', names: {}, dishes: 3 }, { code: 'ALCOHOL', names: {}, dishes: 1 }, { code: 'PACKAGING', names: {}, dishes: 0 },
  ] as TaxClass[]
  expect(untaxed(form, classes).map((c) => c.code), 'untaxed classes').toEqual(['ALCOHOL'])
  expect(untaxed({ rates: [], rules: [] }, classes), 'without rates').toEqual([])
})

test('the price lab asks for the rates and charges of the kind and the date', () => {
  const lines = [{ unitPrice: 65_000, qty: 2, taxClass: 'FOOD' }, { unitPrice: 1000, qty: 1, taxClass: null }]
  const here = quoteInput(form, 'VND', 'DINE_IN', '2026-11-26', lines)
  expect(here.lines, 'lines at the table').toEqual([{ unitPrice: 65_000, qty: 2, rate: '8' }, { unitPrice: 1000, qty: 1 }])
  expect(here.serviceCharges, 'charges at the table').toEqual([{ percent: '10', taxed: true }])
  const away = quoteInput(form, 'VND', 'PICKUP', '2026-11-26', lines)
  expect([away.lines?.[0]?.rate, away.serviceCharges], 'take-away').toEqual(['5', []])
})

test('dishes without a class differ only from those with one', () => {
  const dishes = (...classes: (string | null)[]) => classes.map((taxClass) => ({ taxClass }))
  expect(commonClass(dishes('FOOD', 'FOOD')), 'the same class').toBe('FOOD')
  expect(commonClass(dishes(null, null)), 'none').toBeNull()
  expect(commonClass(dishes('FOOD', null)), 'some without').toBeUndefined()
  expect(commonClass(dishes('FOOD', 'DRINK')), 'two classes').toBeUndefined()
})

test('a voucher stops working if its discount is gone or has no fixed value any more', () => {
  const kind = (code: string, more: Partial<DiscountKind> = {}): DiscountKind => ({ code, names: {}, type: 'PERCENT', percent: '10', ...more })
  const voucher = (id: string, discount: string, more: Partial<Voucher> = {}) => ({ id, discount, used: 0, held: 0, ...more }) as Voucher
  const all = [
    voucher('1', 'D1'), voucher('2', 'D2'), voucher('over', 'D2', { until: '2026-02-25' }), voucher('today', 'D2', { until: '2026-02-26' }),
    voucher('used', 'D2', { maxUses: 3, used: 3 }), voucher('held', 'D2', { maxUses: 3, used: 2, held: 1 }), voucher('gone before', 'D3'),
  ]
  const before = [kind('D1'), kind('D2')]
  const after = (now: DiscountKind[]) => stopped(all, before, now, '2026-02-26').map((v) => v.id)
  expect(after(before), 'no change').toEqual([])
  expect(after([kind('D1'), kind('D2', { percent: '20' })]), 'another value').toEqual([])
  expect(after([kind('D1')]), 'removed').toEqual(['2', 'today', 'held'])
  expect(after([kind('D1'), { code: 'D2', names: {}, type: 'PERCENT' }]), 'typed in each time').toEqual(['2', 'today', 'held'])
})

test('a row whose typed amount is none is named', () => {
  const names = { en: 'Box' }
  const rows = (typed: number | string) => ({
    serviceCharges: [{ names, percent: '10', kinds: [] }, { names, amount: amountOf(typed), kinds: [] }],
    discounts: [{ code: 'D1', names, type: 'AMOUNT', amount: amountOf(typed) }, { code: 'D2', names, type: 'AMOUNT' }] as DiscountKind[],
  })
  expect(unreadable(rows('100.000'))).toEqual(['serviceCharges[1]', 'discounts[0]'])
  expect(unreadable(rows(0))).toEqual([])
})
