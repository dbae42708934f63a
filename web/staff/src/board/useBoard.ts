import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'
import { follow, type StreamEvent } from '@shared/stream'
import { noteServerTime } from '@shared/time'
import { complain } from '../shell/notices'
import { api, ask, bearer, bearerNow, renew } from '../shell/session'
import { moved, ticked, type Board, type StepName, type Ticket } from './boardLayout'

/** The interval in ms at which the token is renewed if necessary, so that an unattended screen stays logged in. */
const tokenEvery = 60_000

/** The pause before a refused stream is opened again, in ms, while the token cannot be renewed. */
const retryPause = 5_000

/** A branch's live board and its actions. */
export function useBoard(branch: Ref<string>) {
  const board = shallowRef<Board>()
  const live = ref(false)
  const refused = shallowRef<Fault>()
  const busy = shallowRef<ReadonlySet<string>>(new Set())
  let end: (() => void) | undefined
  let generation = 0

  async function open(): Promise<void> {
    end?.()
    const mine = ++generation
    live.value = false
    refused.value = undefined
    if (!branch.value) return
    await bearer().catch(() => undefined) // the stream tries again by itself
    if (mine !== generation) return
    end = follow({
      url: `/api/boards/${branch.value}/events`,
      headers: bearerNow,
      onEvent: (e) => {
        show(e)
      },
      onLive: (l) => {
        live.value = l
      },
      onRefused: (e) => void handleRefusal(e),
    })
  }

  function show(e: StreamEvent): void {
    if (e.name !== 'board') return
    board.value = JSON.parse(e.data) as Board
    noteServerTime(board.value.now) // the device's clock may have been set since the stream was opened
  }

  /** Reopens the stream if its token expired while the connection was lost. Other errors are shown. */
  async function handleRefusal(e: Fault): Promise<void> {
    live.value = false
    if (e.status !== 401) {
      refused.value = e
      return
    }
    const mine = generation
    try {
      await renew()
      if (mine === generation) await open()
    } catch (e) {
      if (!isFault(e) || !e.passing) return // a logout leads to the login page
      setTimeout(() => {
        if (mine === generation) void open()
      }, retryPause)
    }
  }

  const renewTimer = setInterval(() => void bearer().catch(() => undefined), tokenEvery)
  watch(branch, () => {
    board.value = undefined
    void open()
  }, { immediate: true })
  onScopeDispose(() => {
    generation++
    clearInterval(renewTimer)
    end?.()
  })

  async function during(id: string, work: () => Promise<void>): Promise<void> {
    if (busy.value.has(id)) return // a second tap while the first request is running
    busy.value = new Set([...busy.value, id])
    try {
      await work()
    } catch (e) {
      if (!isFault(e)) throw e
      complain(e)
    } finally {
      busy.value = new Set([...busy.value].filter((b) => b !== id))
    }
  }

  function step(t: Ticket, name: StepName | 'recall'): Promise<void> {
    return during(t.id, async () => {
      const path = { params: { path: { id: t.id } }, body: { version: t.version } }
      const p = await ask(() => api.POST(`/api/orders/{id}/${name}`, path))
      if (board.value) board.value = moved(board.value, p)
    })
  }

  function tick(t: Ticket, index: number, done: boolean): Promise<void> {
    return during(`${t.id} ${String(index)}`, async () => {
      const path = { params: { path: { id: t.id, index } }, body: { done } }
      const p = await ask(() => api.POST('/api/orders/{id}/items/{index}/done', path))
      if (board.value) board.value = moved(ticked(board.value, t.id, index, done), p)
    })
  }

  return { board, live, refused, busy: computed(() => busy.value), step, tick, again: open }
}
