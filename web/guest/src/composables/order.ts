import { onScopeDispose, ref, shallowRef, watch } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'
import { language } from '@shared/i18n'
import { follow } from '@shared/stream'

import { getOrder, guestHeaders } from '../api/public'
import type { Order } from '../types/dto'
import { offline } from './connection'

/** How often an order is asked for while its stream does not flow: every 2 s at first, later every 10 s. */
export function pollAfter(asked: number): number {
  return asked < 15 ? 2000 : 10_000
}

/** Follows one order while its screen is shown. */
export function useOrder(id: string) {
  const order = shallowRef<Order>()
  const fault = shallowRef<Fault>()
  const live = ref(false)
  let asked = 0
  let over = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function load(): Promise<void> {
    try {
      const got = await getOrder(id)
      if (over) return
      order.value = got
      fault.value = undefined
    } catch (e) {
      if (over || !isFault(e)) return
      if (e.passing) offline.value = true
      // What is shown stays: no news about a payment is not bad news.
      if (!e.passing || !order.value) fault.value = e
    }
  }

  function poll(): void {
    timer = setTimeout(() => {
      void (live.value ? Promise.resolve() : load()).then(() => {
        if (!over) poll()
      })
    }, pollAfter(asked++))
  }

  function open(): () => void {
    return follow({
      url: `/cis/order/${encodeURIComponent(id)}/events`,
      headers: guestHeaders,
      onEvent: (event) => {
        if (event.name !== 'order') return
        order.value = JSON.parse(event.data) as Order
        fault.value = undefined
      },
      onLive: (flows) => {
        live.value = flows
        offline.value = !flows
      },
      onRefused: (refused) => {
        if (!order.value) fault.value = refused
      },
    })
  }

  let stop = open()
  poll()
  // A stream names the dishes in the language in which it was opened.
  watch(language, () => {
    stop()
    stop = open()
  })
  onScopeDispose(() => {
    over = true
    clearTimeout(timer)
    stop()
  })
  return { order, fault, load }
}
