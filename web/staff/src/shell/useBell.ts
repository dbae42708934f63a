import { onScopeDispose, ref, shallowRef } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'
import type { components } from '@shared/api/schema'
import { follow } from '@shared/stream'
import { complain } from './notices'
import { api, ask, bearer, bearerNow, renew } from './session'

export type BellNotice = components['schemas']['NoticeView']
type BellPage = components['schemas']['NoticePage']

const kinds: readonly BellNotice['kind'][] = ['STOCK_LOW', 'REFUND_DUE', 'TABLE_CALL', 'PAYMENT_MISMATCH']

/** The notices of a page for staff. Those about own orders belong to the guest app, also their number. */
export function forStaff(page: Pick<BellPage, 'items'>): { items: BellNotice[]; unread: number } {
  const items = (page.items ?? []).filter((n) => kinds.includes(n.kind))
  return { items, unread: items.filter((n) => !n.read).length }
}

/** The pause before a refused stream is opened again, in ms, while the token cannot be renewed. */
const retryPause = 5_000

/** The newest notices of the user, kept up to date by a stream until the calling scope ends. */
export function useBell() {
  const items = shallowRef<BellNotice[]>([])
  const unread = ref(0)
  let end: (() => void) | undefined
  let disposed = false

  async function open(): Promise<void> {
    await bearer().catch(() => undefined) // the stream tries again by itself
    if (disposed) return
    end?.()
    end = follow({
      url: '/me/notices/events',
      headers: bearerNow,
      onEvent: (e) => {
        if (e.name !== 'notices') return
        const page = forStaff(JSON.parse(e.data) as BellPage)
        items.value = page.items
        unread.value = page.unread
      },
      onRefused: (e) => void reopen(e),
    })
  }

  /** Reopens the stream if its token expired while the connection was lost. */
  async function reopen(refused: Fault): Promise<void> {
    if (refused.status !== 401) return // the role has no permission for notices
    try {
      await renew()
      if (!disposed) await open()
    } catch (e) {
      if (!isFault(e) || !e.passing) return // a logout leads to the login page
      setTimeout(() => {
        if (!disposed) void open()
      }, retryPause)
    }
  }

  async function attempt(act: () => Promise<unknown>): Promise<void> {
    try {
      await act()
    } catch (e) {
      if (!isFault(e)) throw e
      complain(e)
    }
  }

  // The stream shows the marks, here and on the user's other devices.
  const read = (id: string) => attempt(() => ask(() => api.POST('/me/notices/{id}/read', { params: { path: { id } } })))

  async function readAll(): Promise<void> {
    const upTo = items.value[0]?.id
    if (upTo) await attempt(() => ask(() => api.POST('/me/notices/read', { body: { upTo } })))
  }

  void open()
  onScopeDispose(() => {
    disposed = true
    end?.()
  })
  return { items, unread, read, readAll }
}
