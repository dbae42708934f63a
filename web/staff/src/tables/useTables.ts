import { computed } from 'vue'

import { branchId } from '../shell/branch'
import { t } from '../shell/i18n'
import { confirm } from '../shell/notices'
import { everyPage, useAsk, useDo } from '../shell/query'
import { api } from '../shell/session'
import { inOrder, type Table } from './floor'

/** The tables of the branch with their visits and actions. */
export function useTables() {
  const asked = useAsk(
    'tables',
    () => everyPage((page) => api.GET('/api/tables', { params: { query: { branchId: Number(branchId.value), page, size: 100 } } })), [],
    { enabled: () => branchId.value !== '', every: 5_000 },
  )
  const touches = ['tables', 'counter']
  const open = useDo((tableId: string) => api.POST('/api/visits', { body: { tableId } }), {
    touches, done: (v) => t('tables.opened', { label: v.tableLabel }),
  })
  const move = useDo(
    ({ id, tableId }: { id: string; tableId: string }) =>
      api.POST('/api/visits/{id}/move', { params: { path: { id } }, body: { tableId } }),
    { touches, done: (v) => t('tables.moved', { label: v.tableLabel }) },
  )
  const close = useDo((id: string) => api.POST('/api/visits/{id}/close', { params: { path: { id } } }), {
    touches, done: (v) => t('tables.closed', { label: v.tableLabel }),
  })
  const answer = useDo((id: string) => api.POST('/api/visits/{id}/answer', { params: { path: { id } }, body: {} }), { touches })
  const rotate = useDo(
    (id: string) => api.POST('/api/tables/{id}/rotate', { params: { path: { id: Number(id) } } }),
    { touches, done: (table) => t('tables.rotated', { label: table.label }) },
  )
  const edit = useDo(
    ({ id, ...body }: { id: string; label?: string; seats?: number; section?: string; isActive?: boolean }) =>
      api.PATCH('/api/tables/{id}', { params: { path: { id: Number(id) } }, body }),
    { touches, done: () => t('tables.saved') },
  )
  const add = useDo(
    (body: { labels: string; seats: number; section: string }) =>
      api.POST('/api/branches/{id}/tables/bulk', { params: { path: { id: Number(branchId.value) } }, body }),
    { touches, done: (added) => t('tables.added', { count: added.items.length }) },
  )

  return {
    asked,
    tables: computed(() => inOrder(asked.data.value?.items ?? [])),
    open, move, answer, edit, add,
    async close(table: Table) {
      if (!table.visit) return
      const text = table.visit.unpaid > 0 ? t('tables.close_unpaid') : t('tables.close_hint')
      const question = { title: t('tables.close_question', { label: table.label }), text, action: t('tables.close') }
      if (await confirm({ ...question, danger: table.visit.unpaid > 0 })) close.mutate(table.visit.id)
    },
    async rotate(table: Table) {
      const question = { title: t('tables.rotate_question', { label: table.label }), text: t('tables.rotate_hint') }
      if (await confirm({ ...question, action: t('tables.rotate'), danger: true })) rotate.mutate(table.id)
    },
  }
}
