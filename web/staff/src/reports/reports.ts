import type { Answer } from '@shared/api/client'
import { api, type Route } from '../shell/session'
import type { Shown } from './figure'
import * as interest from './interest'
import { members } from './members'
import * as reportFigures from './reportFigures'
import type { Span } from './span'

export interface Query extends Span {
  branchId: string
  locale: string
}

export interface Paged extends Query {
  page: number
  size: number
}

/** A report: its query and its figures. The CSV file has all rows. */
export interface Report {
  name: string // of its route, and of its texts
  needs: Route
  pages?: boolean
  load: (q: Paged) => Promise<Answer<unknown>>
  show: (found: never, span: Span) => Shown
}

const plain = ({ branchId, from, to, locale }: Paged): { params: { query: Query } } => ({ params: { query: { branchId, from, to, locale } } })
const paged = (q: Paged) => ({ params: { query: q } })

/** All reports, in the order of the page. */
export const reports: Report[] = [
  {
    name: 'sales-days', needs: 'GET /api/reports/sales-days', show: reportFigures.salesDays,
    load: (q) => api.GET('/api/reports/sales-days', plain(q)),
  },
  {
    name: 'sales-hours', needs: 'GET /api/reports/sales-hours', show: reportFigures.salesHours,
    load: (q) => api.GET('/api/reports/sales-hours', plain(q)),
  },
  {
    name: 'dishes', needs: 'GET /api/reports/dishes', show: reportFigures.dishes, pages: true,
    load: (q) => api.GET('/api/reports/dishes', paged(q)),
  },
  {
    name: 'options', needs: 'GET /api/reports/options', show: reportFigures.options, pages: true,
    load: (q) => api.GET('/api/reports/options', paged(q)),
  },
  {
    name: 'views', needs: 'GET /api/reports/views', show: interest.views, pages: true,
    load: (q) => api.GET('/api/reports/views', paged(q)),
  },
  {
    name: 'carts', needs: 'GET /api/reports/carts', show: interest.carts,
    load: (q) => api.GET('/api/reports/carts', plain(q)),
  },
  {
    name: 'searches', needs: 'GET /api/reports/searches', show: interest.searches,
    load: (q) => api.GET('/api/reports/searches', plain(q)),
  },
  {
    name: 'members', needs: 'GET /api/reports/members', show: members,
    load: (q) => api.GET('/api/reports/members', plain(q)),
  },
  {
    name: 'quotas', needs: 'GET /api/reports/quotas', show: reportFigures.quotas, pages: true,
    load: (q) => api.GET('/api/reports/quotas', paged(q)),
  },
  {
    name: 'tickets', needs: 'GET /api/reports/tickets', show: reportFigures.tickets,
    load: (q) => api.GET('/api/reports/tickets', plain(q)),
  },
  {
    name: 'payments', needs: 'GET /api/reports/payments', show: reportFigures.payments,
    load: (q) => api.GET('/api/reports/payments', plain(q)),
  },
  {
    name: 'taxes', needs: 'GET /api/reports/taxes', show: reportFigures.taxes,
    load: (q) => api.GET('/api/reports/taxes', plain(q)),
  },
  {
    name: 'expired', needs: 'GET /api/reports/expired', show: reportFigures.expired,
    load: (q) => api.GET('/api/reports/expired', plain(q)),
  },
  {
    name: 'refunds', needs: 'GET /api/reports/refunds', show: reportFigures.refunds,
    load: (q) => api.GET('/api/reports/refunds', plain(q)),
  },
]

/** The address of a report's CSV file, which contains all rows. */
export function sheetPath(name: string, q: Query): string {
  return `/api/reports/${name}?${new URLSearchParams({ ...q, format: 'csv' }).toString()}`
}
