import type { components } from '@shared/api/schema'
import { t } from '../shell/i18n'
import { dayText, type Shown } from './figure'
import { column, dishName, tile } from './reportFigures'
import { dates, type Span } from './span'

// The reports of what guests look at and leave behind.
type Schemas = components['schemas']

export function views(r: Schemas['ReportInterestView']): Shown {
  return {
    tiles: [
      tile('menu_pages', r.totals.menuPages), tile('viewed', r.totals.viewed), tile('added', r.totals.added),
      tile('cart_pages', r.totals.cartPages), tile('checkout_pages', r.totals.checkoutPages),
    ],
    total: r.total,
    figures: [{
      title: t('reports.views'),
      chart: {
        kind: 'rows', measure: 'number', names: r.items.map(dishName),
        series: [
          { name: t('reports.viewed'), values: r.items.map((d) => d.viewed) },
          { name: t('reports.orders_with'), values: r.items.map((d) => d.orders) },
        ],
      },
      columns: [column('dish', 'text'), column('viewed'), column('added'), column('orders_with'), column('ordered_share', 'share')],
      rows: r.items.map((d) => [dishName(d), d.viewed, d.added, d.orders, d.viewed > 0 ? d.orderedShare : null]),
    }],
  }
}

export function carts(r: Schemas['ReportCartsView'], span: Span): Shown {
  const at = new Map(r.days.map((d) => [d.date, d]))
  const all = dates(span)
  return {
    tiles: [
      tile('begun', r.totals.begun), tile('ordered', r.totals.ordered), tile('left', r.totals.abandoned),
      tile('member_carts', r.totals.memberCarts), tile('member_amount', r.totals.memberAmount, 'money'),
    ],
    figures: [{
      title: t('reports.carts'),
      chart: {
        kind: 'bars', measure: 'number', stacked: true, names: all.map(dayText),
        series: [
          { name: t('reports.left'), values: all.map((d) => at.get(d)?.abandoned ?? 0) },
          { name: t('reports.member_carts'), values: all.map((d) => at.get(d)?.memberCarts ?? 0) },
        ],
      },
      columns: [
        column('date', 'date'), column('begun'), column('ordered'), column('left'), column('open'), column('member_carts'),
        column('member_amount', 'money'),
      ],
      rows: r.days.map((d) => [d.date, d.begun, d.ordered, d.abandoned, d.open, d.memberCarts, d.memberAmount]),
    }],
  }
}

export function searches(r: Schemas['ReportSearchesView']): Shown {
  const list = (name: 'searched_missed' | 'searched', all: Schemas['ReportSearched'][], value: (s: Schemas['ReportSearched']) => number) => ({
    title: t(`reports.${name}`),
    chart: {
      kind: 'rows' as const, measure: 'number' as const, names: all.slice(0, 15).map((s) => s.text),
      series: [{ name: t(name === 'searched' ? 'reports.searches_number' : 'reports.not_found'), values: all.slice(0, 15).map(value) }],
    },
    columns: [column('search_text', 'text'), column('searches_number'), column('not_found')],
    rows: all.map((s) => [s.text, s.searches, s.missed]),
  })
  return {
    tiles: [tile('searches_number', r.totals.searches), tile('not_found', r.totals.missed), tile('search_texts', r.totals.texts)],
    figures: [
      list('searched_missed', r.missed, (s) => s.missed),
      list('searched', r.searched, (s) => s.searches),
    ],
  }
}
