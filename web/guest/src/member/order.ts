import { onScopeDispose, ref, shallowRef, watch } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'
import { language } from '@shared/i18n'
import { follow } from '@shared/stream'

import { offline } from '../composables/connection'
import { pollAfter } from '../composables/order'
import { memberHeaders, order as fetchOrder, tokens } from './api'
import type { MemberOrder } from './dto'

/** Follows one order while its screen is shown, and asks for it while its stream does not flow. */
export function useMemberOrder(id: string) {
  const order = shallowRef<MemberOrder>()
  const fault = shallowRef<Fault>()
  const live = ref(false)
  let asked = 0
  let opened = 0
  let over = false
  let end: (() => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  async function load(): Promise<void> {
    try {
      const got = await fetchOrder(id)
      if (over) return
      order.value = got
      fault.value = undefined
      offline.value = false
    } catch (e) {
      if (over || !isFault(e)) return
      if (e.passing) offline.value = true
      // What is shown stays: no news about a payment is not bad news.
      if (!e.passing || !order.value) fault.value = e
    }
  }

  function poll(): void {
    timer = setTimeout(() => {
      void (live.value || document.hidden ? Promise.resolve() : load()).then(() => {
        if (!over) poll()
      })
    }, pollAfter(asked++))
  }

  async function open(): Promise<void> {
    const mine = ++opened
    await tokens.valid().catch(() => undefined) // the stream tries again by itself
    if (over || mine !== opened) return
    end?.()
    end = follow({
      url: `/orders/${encodeURIComponent(id)}/events`,
      headers: memberHeaders,
      onEvent: (event) => {
        if (event.name !== 'order') return
        order.value = JSON.parse(event.data) as MemberOrder
        fault.value = undefined
      },
      onLive: (flows) => {
        live.value = flows
        offline.value = !flows
      },
      onRefused: (refused) => void turnedAway(refused),
    })
  }

  /** A token may have run out while the connection was lost. */
  async function turnedAway(refused: Fault): Promise<void> {
    live.value = false
    const sent = tokens.bearer
    if (refused.status !== 401) {
      if (!order.value) fault.value = refused
      return
    }
    await tokens.renew(sent).catch(() => undefined)
    if (tokens.bearer && tokens.bearer !== sent) await open()
  }

  // Who comes back from the gateway's page wants to know at once.
  const seen = () => {
    asked = 0
    if (!document.hidden) void load()
  }
  document.addEventListener('visibilitychange', seen)
  // A stream names the dishes in the language in which it was opened.
  watch(language, open)
  void load()
  void open()
  poll()
  onScopeDispose(() => {
    over = true
    clearTimeout(timer)
    end?.()
    document.removeEventListener('visibilitychange', seen)
  })
  return { order, fault, load }
}
