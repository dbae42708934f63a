import { computed } from 'vue'

import { isFault } from '@shared/api/fault'
import { branchId } from '../shell/branch'
import { t } from '../shell/i18n'
import { confirm, notify } from '../shell/notices'
import { everyPage, useAsk, useDo } from '../shell/query'
import { api } from '../shell/session'
import { inOrder, wasAdded, type LostAddition, type Table } from './floor'

interface Addition { labels: string; seats: number; section: string }

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
  let lost: LostAddition | undefined
  const add = useDo(
    (body: Addition) => api.POST('/api/branches/{id}/tables/bulk', { params: { path: { id: Number(branchId.value) } }, body }),
    {
      touches, done: (added) => t('tables.added', { count: added.items.length }),
      failed: (fault) => lost !== undefined && wasAdded(lost, lost.request, fault),
    },
  )

  return {
    asked,
    tables: computed(() => inOrder(asked.data.value?.items ?? [])),
    open, move, answer, edit, adding: add.isPending,
    /** Adds tables and reports whether they exist now, even if the answer to the same request was lost before. */
    async add(body: Addition): Promise<boolean> {
      const request = JSON.stringify([branchId.value, body])
      if (lost?.request !== request) lost = undefined
      const before = asked.data.value?.items.map((table) => table.label)
      const known = lost?.known ?? (before && new Set(before))
      try {
        await add.mutateAsync(body)
      } catch (e) {
        if (!isFault(e)) throw e
        if (wasAdded(lost, request, e)) notify(t('tables.saved'))
        else {
          if (e.passing && e.status !== 429 && known) lost = { request, known } // a refused request has no effect
          return false
        }
      }
      lost = undefined
      return true
    },
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
