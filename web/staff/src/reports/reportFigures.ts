import type { components } from '@shared/api/schema'
import { attemptText } from '../orders/order'
import { moment, percent, t, hasText } from '../shell/i18n'
import { dayText, hourText, weekdayText, type Cell, type Column, type Kind, type Shown, type Tile } from './figure'
import { dates, type Span } from './span'

// Converts each report to figures. Charts have every day and hour; tables only those with data.
type Schemas = components['schemas']

export const column = (name: string, kind: Kind = 'number'): Column => ({ text: t(`reports.${name}`), kind })
export const tile = (name: string, value: Cell, kind: Kind = 'number'): Tile => ({ text: t(`reports.${name}`), value, kind })

/** The translation of an API value, or the value itself if there is none. */
function word(key: string, plain: string): string {
  return hasText(key) ? t(key) : plain
}

const methodText = (m: string) => word(`board.method_${m}`, m)
const hours = Array.from({ length: 24 }, (_, h) => h)

export function salesDays(r: Schemas['ReportDaysView'], span: Span): Shown {
  const at = new Map(r.days.map((d) => [d.date, d]))
  const all = dates(span)
  return {
    tiles: [
      tile('net', r.totals.net, 'money'), tile('sales', r.totals.sales), tile('gross', r.totals.gross, 'money'),
      tile('refunded', r.totals.refunded, 'money'), tile('canceled', r.totals.canceled),
    ],
    figures: [{
      title: t('reports.sales-days'),
      chart: {
        kind: 'bars', measure: 'money', names: all.map(dayText),
        series: [{ name: t('reports.net'), values: all.map((d) => at.get(d)?.net ?? 0) }],
      },
      columns: [
        column('date', 'date'), column('placed'), column('sales'), column('canceled'), column('open'), column('gross', 'money'),
        column('refunded', 'money'), column('net', 'money'),
      ],
      rows: r.days.map((d) => [d.date, d.placed, d.sales, d.canceled, d.open, d.gross, d.refunded, d.net]),
    }],
  }
}

export function salesHours(r: Schemas['ReportHoursView']): Shown {
  const at = new Map(r.hours.map((h) => [h.hour, h]))
  return {
    tiles: [tile('placed', r.totals.placed), tile('sales', r.totals.sales), tile('gross', r.totals.gross, 'money')],
    figures: [
      {
        title: t('reports.sales-hours'),
        chart: {
          kind: 'bars', measure: 'money', names: hours.map(hourText),
          series: [{ name: t('reports.gross'), values: hours.map((h) => at.get(h)?.gross ?? 0) }],
        },
        columns: [column('hour', 'text'), column('placed'), column('sales'), column('gross', 'money')],
        rows: r.hours.filter((h) => h.placed > 0).map((h) => [hourText(h.hour), h.placed, h.sales, h.gross]),
      },
      {
        title: t('reports.heat'),
        chart: {
          kind: 'heat', measure: 'number', names: hours.map(hourText), down: [1, 2, 3, 4, 5, 6, 7].map((d) => weekdayText(d, 'short')),
          cells: r.cells.map((c) => [c.hour, c.weekday - 1, c.placed]),
        },
        columns: [column('weekday', 'text'), column('hour', 'text'), column('placed'), column('sales'), column('gross', 'money')],
        rows: r.cells.map((c) => [weekdayText(c.weekday), hourText(c.hour), c.placed, c.sales, c.gross]),
      },
    ],
  }
}

/** The name of a dish, also of a deleted one. */
export const dishName = (d: { name: string; dishId: string }) => d.name || t('reports.dish_gone', { id: d.dishId })

export function dishes(r: Schemas['ReportDishesView']): Shown {
  return {
    tiles: [tile('qty', r.totals.qty), tile('gross', r.totals.gross, 'money')],
    total: r.total,
    figures: [{
      title: t('reports.dishes'),
      chart: {
        kind: 'rows', measure: 'money', names: r.items.map(dishName),
        series: [{ name: t('reports.gross'), values: r.items.map((d) => d.gross) }],
      },
      columns: [column('rank'), column('dish', 'text'), column('qty'), column('gross', 'money'), column('share', 'share')],
      rows: r.items.map((d) => [d.rank, dishName(d), d.qty, d.gross, d.share]),
    }],
  }
}

export function options(r: Schemas['ReportOptionsView']): Shown {
  const dish = (o: Schemas['ReportOption']) => o.dish || t('reports.dish_gone', { id: o.dishId })
  return {
    tiles: [],
    total: r.total,
    figures: [{
      title: t('reports.options'),
      columns: [
        column('dish', 'text'), column('group', 'text'), column('option', 'text'), column('chosen'), column('portions'), column('per_dish', 'share'),
      ],
      rows: r.items.map((o) => [dish(o), o.group || t('reports.option_gone'), o.name, o.qty, o.portions, o.perDish]),
    }],
  }
}

export function quotas(r: Schemas['ReportQuotasView']): Shown {
  return {
    tiles: [tile('times_sold_out', r.items.filter((q) => q.soldOut).length)],
    total: r.total,
    figures: [{
      title: t('reports.quotas'),
      chart: {
        kind: 'rows', measure: 'share', names: r.items.map((q) => `${q.name} · ${dayText(q.date)}`),
        series: [{ name: t('reports.sell_through'), values: r.items.map((q) => q.sellThrough) }],
      },
      columns: [
        column('date', 'date'), column('dish', 'text'), column('cap'), column('held'), column('sold'), column('sell_through', 'share'),
        column('sold_out_at', 'text'),
      ],
      rows: r.items.map((q) => [
        q.date, q.name, q.cap, q.held, q.sold, q.sellThrough,
        [q.soldOutAt && moment(q.soldOutAt, r.timezone), q.eightySixed && t('availability.state_off')].filter(Boolean).join(' · '),
      ]),
    }],
  }
}

export function tickets(r: Schemas['ReportTicketsView'], span: Span): Shown {
  const pace: Column[] = [column('phase', 'text'), column('orders'), column('p50', 'time'), column('p90', 'time')]
  const cells = (p: Schemas['ReportDayPace'] | Schemas['ReportHourPace']): Cell[] => [t(`reports.phase_${p.phase}`), p.orders, p.p50Ms, p.p90Ms]
  // Charts show the whole waiting time; the tables also show its phases.
  const wholeDay = new Map(r.days.filter((d) => d.phase === 'WHOLE').map((d) => [d.date, d]))
  const wholeHour = new Map(r.hours.filter((h) => h.phase === 'WHOLE').map((h) => [h.hour, h]))
  const all = dates(span)
  return {
    tiles: [],
    figures: [
      {
        title: t('reports.tickets_days'),
        chart: {
          kind: all.length > 1 ? 'lines' : 'bars', measure: 'time', names: all.map(dayText),
          series: [
            { name: t('reports.p50'), values: all.map((d) => wholeDay.get(d)?.p50Ms ?? null) },
            { name: t('reports.p90'), values: all.map((d) => wholeDay.get(d)?.p90Ms ?? null) },
          ],
        },
        columns: [column('date', 'date'), ...pace],
        rows: r.days.map((d) => [d.date, ...cells(d)]),
      },
      {
        title: t('reports.tickets_hours'),
        chart: {
          kind: 'bars', measure: 'time', names: hours.map(hourText),
          series: [
            { name: t('reports.p50'), values: hours.map((h) => wholeHour.get(h)?.p50Ms ?? null) },
            { name: t('reports.p90'), values: hours.map((h) => wholeHour.get(h)?.p90Ms ?? null) },
          ],
        },
        columns: [column('hour', 'text'), ...pace],
        rows: r.hours.map((h) => [hourText(h.hour), ...cells(h)]),
      },
    ],
  }
}

const reasonText = (r: string) => word(`reports.reason_${r}`, r)
const refundText = (s: string) => word(`orders.refund_${s}`, s)

/** Sums values by name, in the order in which the names first appear. */
function sums<T>(all: T[], name: (v: T) => string, value: (v: T) => number): [string, number][] {
  const found = new Map<string, number>()
  for (const v of all) found.set(name(v), (found.get(name(v)) ?? 0) + value(v))
  return [...found]
}

export function payments(r: Schemas['ReportPaymentsView']): Shown {
  const paid = sums(r.attempts.filter((a) => a.state === 'PAID'), (a) => methodText(a.method), (a) => a.amount)
  const failed = sums(r.failures, (f) => [methodText(f.method), f.code].filter(Boolean).join(' '), (f) => f.number).slice(0, 20)
  return {
    tiles: [
      tile('captured', r.totals.captured, 'money'), tile('refunded', r.totals.refunded, 'money'), tile('returned', r.totals.returned, 'money'),
      tile('kept', r.totals.kept, 'money'),
    ],
    figures: [
      {
        title: t('reports.payments_mix'),
        chart: {
          kind: 'rows', measure: 'money', names: paid.map(([name]) => name),
          series: [{ name: t('reports.captured'), values: paid.map(([, sum]) => sum) }],
        },
        columns: [column('method', 'text'), column('state', 'text'), column('number'), column('amount', 'money')],
        rows: r.attempts.map((a) => [methodText(a.method), attemptText(a), a.number, a.amount]),
      },
      {
        title: t('reports.payments_failures'),
        chart: {
          kind: 'rows', measure: 'number', names: failed.map(([name]) => name),
          series: [{ name: t('reports.number'), values: failed.map(([, sum]) => sum) }],
        },
        columns: [column('method', 'text'), column('result', 'text'), column('code', 'text'), column('number')],
        rows: r.failures.map((f) => [methodText(f.method), word(`reports.result_${f.result}`, f.result), f.code, f.number]),
      },
      {
        title: t('reports.refunds'),
        columns: [column('method', 'text'), column('reason', 'text'), column('state', 'text'), column('number'), column('amount', 'money')],
        rows: r.refunds.map((f) => [methodText(f.method), reasonText(f.reason), refundText(f.state), f.number, f.amount]),
      },
    ],
  }
}

export function expired(r: Schemas['ReportEndedView'], span: Span): Shown {
  const all = dates(span)
  const reasons = ['EXPIRED', 'USER_CANCELED', 'STAFF_CANCELED'] as const
  const at = new Map(r.rows.map((e) => [`${e.date} ${e.reason}`, e.orders]))
  return {
    tiles: [
      tile('orders', r.totals.orders), tile('amount', r.totals.amount, 'money'), tile('abandoned', r.totals.abandoned),
      tile('abandoned_amount', r.totals.abandonedAmount, 'money'),
    ],
    figures: [{
      title: t('reports.expired'),
      chart: {
        kind: 'bars', measure: 'number', stacked: true, names: all.map(dayText),
        series: reasons.map((reason) => ({
          name: t(`reports.ended_${reason}`), values: all.map((d) => at.get(`${d} ${reason}`) ?? 0),
        })),
      },
      columns: [
        column('date', 'date'), column('reason', 'text'), column('orders'), column('amount', 'money'), column('abandoned'),
        column('abandoned_amount', 'money'),
      ],
      rows: r.rows.map((e) => [e.date, t(`reports.ended_${e.reason}`), e.orders, e.amount, e.abandoned, e.abandonedAmount]),
    }],
  }
}

export function taxes(r: Schemas['ReportTaxesView']): Shown {
  const rates = [...new Set(r.days.map((d) => d.rate))]
  const sums = rates.map((rate) => {
    const days = r.days.filter((d) => d.rate === rate)
    return { rate: rate ? percent(rate) : t('reports.untaxed'), base: sum(days.map((d) => d.base)), amount: sum(days.map((d) => d.amount)) }
  })
  return {
    tiles: [
      tile('total', r.totals.total, 'money'), tile('tax', r.totals.taxes, 'money'), tile('service', r.totals.service, 'money'),
      tile('discount', r.totals.discount, 'money'), tile('orders', r.totals.orders),
    ],
    figures: [
      {
        title: t('reports.taxes_rates'), columns: [column('rate', 'text'), column('base', 'money'), column('tax', 'money')],
        rows: sums.map((s) => [s.rate, s.base, s.amount]),
      },
      {
        title: t('reports.taxes'), columns: [column('date', 'date'), column('rate', 'text'), column('orders'), column('base', 'money'), column('tax', 'money')],
        rows: r.days.map((d) => [d.date, d.rate ? percent(d.rate) : t('reports.untaxed'), d.orders, d.base, d.amount]),
      },
    ],
  }
}

const sum = (values: readonly number[]) => values.reduce((all, v) => all + v, 0)

export function refunds(r: Schemas['ReportRefundsView'], span: Span): Shown {
  const all = dates(span)
  const at = new Map(sums(r.rows, (f) => f.date ?? '', (f) => f.amount))
  return {
    tiles: [
      tile('refunded', r.totals.refunded, 'money'), tile('returned', r.totals.returned, 'money'), tile('done', r.totals.done, 'money'),
      tile('owed', r.totals.owed, 'money'),
    ],
    figures: [{
      title: t('reports.refunds'),
      chart: {
        kind: 'bars', measure: 'money', names: all.map(dayText),
        series: [{ name: t('reports.amount'), values: all.map((d) => at.get(d) ?? 0) }],
      },
      columns: [
        column('date', 'date'), column('method', 'text'), column('reason', 'text'), column('state', 'text'), column('number'), column('amount', 'money'),
      ],
      rows: r.rows.map((f) => [f.date ?? '', methodText(f.method), reasonText(f.reason), refundText(f.state), f.number, f.amount]),
    }],
  }
}
