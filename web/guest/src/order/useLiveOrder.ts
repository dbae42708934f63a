import { effectScope, onScopeDispose, ref, shallowRef, watch, type EffectScope, type ShallowRef } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'
import { language } from '@shared/i18n'
import { follow } from '@shared/stream'

import { offline } from '../shell/connection'

/** The requests that a live order needs. */
export interface LiveOrderSource<T> {
  fetch: () => Promise<T>
  /** The address of the order's stream of events. */
  url: string
  headers: () => Record<string, string>
  /** Makes sure that headers have a valid token. A stream reads them at the moment of connecting. */
  authorize?: () => Promise<unknown>
  /** Replaces a refused token, and reports whether there is a new one. */
  renew?: () => Promise<boolean>
}

/** The pause before a poll, in ms. Most changes come within half a minute of ordering. */
function pollAfter(polls: number): number {
  return polls < 15 ? 2000 : 10_000
}

export interface LiveOrder<T> {
  order: ShallowRef<T | undefined>
  fault: ShallowRef<Fault | undefined>
  load: () => Promise<void>
}

interface Followed {
  live: FollowedOrder<unknown>
  scope: EffectScope
  users: number
}

/** The orders that are followed now, by the address of their stream. */
const followed = new Map<string, Followed>()

/**
 * Keeps one order up to date until the calling scope ends, by its stream, or by polling while the stream is down. Without
 * `streamed` it only polls, because the server limits the streams of a phone. All callers share one stream per order.
 */
export function useLiveOrder<T>(source: LiveOrderSource<T>, streamed = true): LiveOrder<T> {
  const key = source.url
  let mine = followed.get(key)
  if (mine) {
    mine.live.refresh()
  } else {
    const scope = effectScope(true)
    mine = { live: scope.run(() => followOrder(source)) as FollowedOrder<unknown>, scope, users: 0 }
    followed.set(key, mine)
  }
  const { live, scope } = mine
  if (streamed) live.stream()
  mine.users++
  onScopeDispose(() => {
    if (--mine.users > 0) return
    followed.delete(key)
    scope.stop()
  })
  return live as unknown as LiveOrder<T>
}

interface FollowedOrder<T> extends LiveOrder<T> {
  /** Opens the stream, once. */
  stream: () => void
  /** Loads the order again, and polls often as after ordering. */
  refresh: () => void
}

function followOrder<T>(source: LiveOrderSource<T>): FollowedOrder<T> {
  const order = shallowRef<T>()
  const fault = shallowRef<Fault>()
  const live = ref(false)
  let polls = 0
  let streamed = false
  let opened = 0
  let events = 0
  let disposed = false
  let close: (() => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  async function load(): Promise<void> {
    try {
      const before = events
      const loaded = await source.fetch()
      if (disposed) return
      // The stream has sent a newer state while this request was running.
      if (before === events) order.value = loaded
      fault.value = undefined
      offline.value = false
    } catch (e) {
      if (disposed || !isFault(e)) return
      if (e.passing) offline.value = true
      // The last known order stays on the screen: a missing answer does not mean that a payment failed.
      if (!e.passing || !order.value) fault.value = e
    }
  }

  function poll(): void {
    timer = setTimeout(() => {
      void (live.value || document.hidden ? Promise.resolve() : load()).then(() => {
        if (!disposed) poll()
      })
    }, pollAfter(polls++))
  }

  async function open(): Promise<void> {
    const mine = ++opened
    await source.authorize?.().catch(() => undefined) // the stream tries again by itself
    if (disposed || mine !== opened) return
    close?.()
    close = follow({
      url: source.url,
      headers: source.headers,
      onEvent: (event) => {
        if (event.name !== 'order') return
        events++
        order.value = JSON.parse(event.data) as T
        fault.value = undefined
      },
      onLive: (flows) => {
        live.value = flows
        offline.value = !flows
      },
      onRefused: (refused) => void reopen(refused),
    })
  }

  /** Reopens a refused stream with a new token: the first may have expired while the connection was lost. */
  async function reopen(refused: Fault): Promise<void> {
    live.value = false
    const renewed = refused.status === 401 && (await source.renew?.().catch(() => false))
    if (renewed) await open()
    else if (!order.value) fault.value = refused
  }

  function stream(): void {
    if (streamed) return
    streamed = true
    void open()
  }

  // A guest who returns from the payment page waits for the result.
  const refresh = () => {
    polls = 0
    if (!document.hidden) void load()
  }
  document.addEventListener('visibilitychange', refresh)
  // The stream keeps the language in which it was opened, so a change of the language reopens it.
  watch(language, () => (streamed ? open() : load()))
  void load()
  poll()
  onScopeDispose(() => {
    disposed = true
    clearTimeout(timer)
    close?.()
    document.removeEventListener('visibilitychange', refresh)
  })
  return { order, fault, load, stream, refresh }
}
