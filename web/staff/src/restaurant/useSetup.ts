import { computed } from 'vue'

import { branchId } from '../shell/branch'
import { useAsk } from '../shell/query'
import { api, can } from '../shell/session'
import { reachOf } from '../tables/reach'

/** The steps before the first guest can order, each derived from stored data. */
export function useSetup() {
  const mine = can('POST /api/branches')
  const withBranch = { enabled: () => mine && branchId.value !== '' }
  const query = computed(() => ({ branchId: Number(branchId.value) }))
  const tables = useAsk('tables', () => api.GET('/api/tables', { params: { query: { ...query.value, size: 1 } } }), ['start'], withBranch)
  const menus = useAsk('menus', () => api.GET('/api/menus', { params: { query: { ...query.value, size: 100 } } }), ['start'], withBranch)
  const users = useAsk('users', () => api.GET('/api/users', { params: { query: { size: 2 } } }), ['start'], { enabled: () => mine })
  const settings = useAsk('settings', () => api.GET('/api/settings'), [], { enabled: () => mine && can('GET /api/settings') })
  const brand = useAsk('brand', () => api.GET('/api/brand'), [], { enabled: () => mine && can('GET /api/brand') })
  // The audit log records each print of the sheet of all codes.
  const printed = useAsk(
    'codes', () => api.GET('/api/audit', { params: { query: { subject: `branch:${branchId.value}`, action: 'table_codes_printed', size: 1 } } }), [],
    { enabled: () => withBranch.enabled() && can('GET /api/audit') },
  )

  const first = computed(() => tables.data.value?.items[0])
  const link = computed(() => first.value?.link ?? '')
  /** The table of the test order. */
  const table = computed(() => (first.value && link.value ? { id: first.value.id, label: first.value.label, link: link.value } : undefined))
  const isSet = (name: string) => settings.data.value?.items.some((s) => s.name === name && s.isSet) ?? false
  const steps = computed(() => [
    { name: 'tables', done: (tables.data.value?.items.length ?? 0) > 0, to: { name: 'tables' } },
    { name: 'menu', done: menus.data.value?.items.some((m) => m.publishedVersionId !== null) ?? false, to: { name: 'menus' } },
    { name: 'address', done: link.value !== '' && reachOf(link.value) !== 'machine', to: { name: 'settings' } },
    { name: 'brand', done: Boolean(brand.data.value?.logo && brand.data.value.accent), to: { name: 'brand' }, optional: true },
    { name: 'payment', done: isSet('vnpay_tmn_code') || isSet('linepay_channel_id'), to: { name: 'settings' }, optional: true },
    { name: 'people', done: (users.data.value?.total ?? 0) > 1, to: { name: 'team' }, optional: true },
    { name: 'codes', done: (printed.data.value?.total ?? 0) > 0, to: { name: 'table-sheet' }, optional: true },
  ])
  return {
    table, steps,
    /** Whether a step is still loading: until then, it looks as if it were to be done. */
    loading: computed(() => [tables, menus, users, settings, brand, printed].some((q) => q.isLoading.value)),
    /** Whether the data of the required steps is loaded. */
    read: computed(() => tables.data.value !== undefined && menus.data.value !== undefined),
    noMenu: computed(() => menus.data.value?.items.length === 0),
    missing: computed(() => steps.value.filter((s) => !s.done && !s.optional)),
  }
}
