import { computed } from 'vue'

import type { components } from '@shared/api/schema'
import { loadAtChange } from '@shared/hours'
import { localeOf } from '@shared/i18n/languages'
import { stateOf as itemState } from '../availability/availability'
import { localized } from '../menu/localized'
import { shift } from '../reports/span'
import { branch, branches, branchId, useBranches } from '../shell/branch'
import { language } from '../shell/i18n'
import { everyPage, useAsk } from '../shell/query'
import { api, can, type Route } from '../shell/session'
import { byNow, closedNow, kitchenOf, nextChange, timeAt } from './today'

type Days = components['schemas']['ReportDaysView']
type Hours = components['schemas']['ReportHoursView']

const pollInterval = 30_000 // ms
const maxBranches = 12 // the maximum number of branches whose sales are shown side by side

/** The current state of a branch. Each part is read if the user has the permission, with the same query as its own page. */
export function useToday() {
  const id = computed(() => Number(branchId.value))
  const ask = (need: Route) => ({ enabled: () => can(need) && branchId.value !== '', every: pollInterval })

  const board = useAsk('board', () => api.GET('/api/boards/{branchId}', { params: { path: { branchId: branchId.value } } }), ['today'], ask('GET /api/boards/{branchId}'))
  // The branches are polled; the board shows at once when a new business day has begun.
  const date = computed(() => board.data.value?.bizDate ?? branch.value?.bizDate ?? '')
  const before = computed(() => (date.value ? shift(date.value, -7) : ''))
  const span = (from: string, to: string) => ({ branchId: branchId.value, from, to, locale: localeOf(language.value) })

  const sales = useAsk(
    'reports', () => api.GET('/api/reports/sales-days', { params: { query: span(date.value, date.value) } }), () => ['today', date.value],
    { enabled: () => can('GET /api/reports/sales-days') && date.value !== '', every: pollInterval },
  )
  const hours = useAsk(
    'reports', () => api.GET('/api/reports/sales-hours', { params: { query: span(before.value, before.value) } }), () => ['week before', before.value],
    { enabled: () => can('GET /api/reports/sales-hours') && date.value !== '' },
  )
  const tables = useAsk(
    'tables', () => everyPage((page) => api.GET('/api/tables', { params: { query: { branchId: id.value, page, size: 100 } } })), [],
    ask('GET /api/tables'),
  )
  const availability = useAsk(
    'availability', () => api.GET('/api/branches/{id}/availability', { params: { path: { id: id.value } } }), [],
    ask('GET /api/branches/{id}/availability'),
  )
  const exceptions = useAsk(
    'exceptions', () => api.GET('/api/payments/exceptions', { params: { query: { branchId: branchId.value } } }), [],
    ask('GET /api/payments/exceptions'),
  )
  const readiness = useAsk('readiness', () => api.GET('/api/system/readiness'), [], ask('GET /api/system/readiness'))
  const outbox = useAsk('outbox', () => api.GET('/api/system/outbox'), [], ask('GET /api/system/outbox'))

  const { refetch: readBranches } = useBranches()
  loadAtChange(() => ({ hoursChange: nextChange(branches.value) ?? null }), readBranches)

  const others = computed(() => branches.value.slice(0, maxBranches))
  const otherDays = useAsk(
    'reports', () => daysOf(others.value.map((b) => ({ ...span(b.bizDate, b.bizDate), branchId: b.id }))),
    () => ['branches', others.value.map((b) => `${b.id} ${b.bizDate}`)],
    { enabled: () => can('GET /api/reports/sales-days') && others.value.length > 1, every: pollInterval },
  )

  const all = [board, sales, hours, tables, availability, exceptions, readiness, outbox]
  return {
    asked: sales, date, before,
    error: computed(() => all.find((a) => a.error.value)?.error.value),
    refetch: () => { for (const a of all) if (a.error.value) void a.refetch() },

    sales: computed(() => (sales.data.value as Days | undefined)?.totals),
    lastWeek: computed(() => {
      const found = hours.data.value as Hours | undefined
      const at = board.data.value?.now
      if (!found || !branch.value) return undefined
      const { hour, minute } = timeAt(at ? Date.parse(at) : Date.now(), branch.value.timezone)
      return { soFar: byNow(found.hours, hour, minute, branch.value.bizDayStartHour), whole: found.totals.gross }
    }),
    kitchen: computed(() => (board.data.value ? kitchenOf(board.data.value) : undefined)),
    awaiting: computed(() => board.data.value?.awaiting.length),
    tables: computed(() => {
      const found = tables.data.value?.items.filter((t) => t.isActive)
      return found && {
        all: found.length, seated: found.filter((t) => t.visit).length,
        calling: found.filter((t) => t.visit?.calls.length).map((t) => t.label),
      }
    }),
    closed: computed(() => (branch.value ? closedNow(branch.value) : '')),
    paused: computed(() => Boolean(availability.data.value?.paused ?? branch.value?.paused)),
    dishes: computed(() => {
      const found = availability.data.value?.items ?? []
      const named = (...states: string[]) => found.filter((i) => states.includes(itemState(i))).map((i) => localized(i.names))
      return { out: named('off', 'out'), few: named('few') }
    }),
    payments: computed(() => {
      const e = exceptions.data.value
      return e ? e.payments.length + e.refunds.length + e.mismatches.length : 0
    }),
    failing: computed(() => Object.entries(readiness.data.value?.checks ?? {}).filter(([, c]) => c.status !== 'ok').map(([name]) => name).sort()),
    dead: computed(() => (outbox.data.value ? outbox.data.value.dead.reduce((sum, d) => sum + d.letters, outbox.data.value.redis.dead) : 0)),
    branchDays: computed(() => others.value.map((b) => ({ ...b, sales: otherDays.data.value?.find((d) => d.branchId === b.id)?.totals }))),
  }
}

/** The sales of several branches: the results of all, or the first failure. */
async function daysOf(queries: { branchId: string; from: string; to: string; locale: string }[]) {
  const found = await Promise.all(queries.map((query) => api.GET('/api/reports/sales-days', { params: { query } })))
  const [first] = found
  const failed = found.find((f) => !f.response.ok) ?? first
  if (!failed) throw new Error('there is no branch')
  return { ...failed, data: found.flatMap((f): Days[] => (f.data ? [f.data as Days] : [])) }
}
