import { computed, onScopeDispose, ref, shallowRef } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'
import { follow } from '@shared/stream'

import type { Notice, NoticePage, NoticeSource } from './source'

/** The pause before a refused stream is opened again, in ms, while the token cannot be renewed. */
const retryPause = 5_000

/** The notices of a reader, kept up to date by a stream until the calling scope ends. */
export function useNotices(source: NoticeSource) {
  const newest = shallowRef<Notice[]>([])
  const older = shallowRef<Notice[]>([])
  const unread = ref(0)
  const next = ref<string | null>(null)
  const fault = shallowRef<Fault>()
  const loaded = ref(false)
  let close: (() => void) | undefined
  let disposed = false

  // Notices that the stream has sent are newer than those that were loaded before.
  const items = computed(() => {
    const first = newest.value.at(-1)?.id
    return [...newest.value, ...older.value.filter((n) => first === undefined || n.id < first)]
  })

  /** Shows an event of the stream. Read marks of older notices may have changed on another device too. */
  function show(page: NoticePage): void {
    const all = page.items ?? []
    const [last, shown] = [all.at(-1)?.id ?? '', newest.value[0]?.id ?? '']
    // New notices push others out of the page. If it does not reach those that were shown, there may be a gap before them.
    if (older.value.length > 0) older.value = last <= shown ? [...newest.value.filter((n) => n.id < last), ...older.value] : []
    if (unread.value > 0 && page.unread === 0) older.value = older.value.map((n) => ({ ...n, read: true }))
    newest.value = all
    unread.value = page.unread
    loaded.value = true
    if (older.value.length === 0) next.value = page.next ?? null
  }

  async function open(): Promise<void> {
    await source.authorize?.().catch(() => undefined) // the stream tries again by itself
    if (disposed) return
    close?.()
    close = follow({
      url: source.url,
      headers: source.headers,
      onEvent: (event) => {
        if (event.name === 'notices') show(JSON.parse(event.data) as NoticePage)
      },
      onRefused: (refused) => void reopen(refused),
    })
  }

  /** Opens the stream again if its token expired while the connection was lost. */
  async function reopen(refused: Fault): Promise<void> {
    if (refused.status !== 401 || !source.renew) return
    try {
      if (await source.renew()) await open()
    } catch (e) {
      if (!isFault(e) || !e.passing) return // the login has ended
      setTimeout(() => {
        if (!disposed) void reopen(refused)
      }, retryPause)
    }
  }

  async function attempt(act: () => Promise<unknown>): Promise<void> {
    fault.value = undefined
    try {
      await act()
    } catch (e) {
      if (!isFault(e)) throw e
      fault.value = e
    }
  }

  function mark(which: (n: Notice) => boolean): void {
    const marked = (n: Notice) => (which(n) ? { ...n, read: true } : n)
    unread.value -= newest.value.concat(older.value).filter((n) => !n.read && which(n)).length
    if (unread.value < 0) unread.value = 0
    newest.value = newest.value.map(marked)
    older.value = older.value.map(marked)
  }

  async function read(id: string): Promise<void> {
    if (items.value.some((n) => n.id === id && n.read)) return
    mark((n) => n.id === id)
    await attempt(() => source.read(id))
  }

  async function readAll(): Promise<void> {
    const upTo = newest.value[0]?.id
    if (!upTo) return
    mark(() => true)
    unread.value = 0
    await attempt(() => source.readAll(upTo))
  }

  async function more(): Promise<void> {
    const before = next.value
    if (!before) return
    await attempt(async () => {
      const page = await source.older(before)
      if (next.value !== before) return // the list has changed in the meantime
      older.value = [...older.value, ...(page.items ?? [])]
      next.value = page.next ?? null
    })
  }

  void open()
  onScopeDispose(() => {
    disposed = true
    close?.()
  })
  return { items, unread, next, fault, loaded, read, readAll, more }
}

export type Notices = ReturnType<typeof useNotices>
