import { effectScope, onScopeDispose, watch, type EffectScope } from 'vue'
import { useRoute } from 'vue-router'

import { t } from '@shared/i18n'
import { serverNow } from '@shared/time'

import type { Order } from '../api/dto'
import { orderSource } from '../api/public'
import { whenReachable } from '../shell/connection'
import { orderStateOf } from './orderstate'
import {
  alerts, canVibrate, endAlert, isCooking, pathOf, restoreAlerts, unseen, works, type Awaited, type ReadyAlert,
} from './readyalert'
import { useLiveOrder, type LiveOrderSource } from './useLiveOrder'

// The server allows a phone five streams, and browsers open six connections. The menu, the bell and an order's page need one
// each.
const maxStreams = 1

/**
 * Follows the orders whose guest wants an alert, whatever page is shown, and alerts once when an order is ready.
 */
export function useReadyAlerts(): void {
  const route = useRoute()
  const scopes = new Map<string, EffectScope>()

  function stop(id: string): void {
    scopes.get(id)?.stop()
    scopes.delete(id)
  }

  async function start(alert: ReadyAlert, scope: EffectScope): Promise<void> {
    const streamed = scopes.size <= maxStreams
    const source = await sourceOf(alert)
    if (!scope.active) return
    scope.run(() => {
      const { order, fault } = useLiveOrder(source, streamed)
      watch([order, fault], ([is, failed]) => {
        const state = is && orderStateOf(is, serverNow())
        if (state === 'ready') {
          if (endAlert(alert.id)) ring(alert)
        } else if (state ? !isCooking(state) : failed && !failed.passing) {
          endAlert(alert.id) // the order has ended, or belongs to another visit or member
        }
      }, { immediate: true })
    })
  }

  function ring(alert: ReadyAlert): void {
    if (canVibrate()) navigator.vibrate([200, 100, 200])
    const there = route.path === pathOf(alert)
    if (!there) unseen.value = [...unseen.value, alert]
    // The order's page shows its headline, if it is visible.
    if (alert.by === 'notify' && works(alert) && (document.hidden || !there)) void notify(alert)
  }

  restoreAlerts()
  watch(alerts, (wanted) => {
    for (const id of scopes.keys()) if (!wanted.some((a) => a.id === id)) stop(id)
    for (const alert of wanted) {
      if (scopes.has(alert.id)) continue
      const scope = effectScope(true)
      scopes.set(alert.id, scope)
      void start(alert, scope)
    }
  }, { immediate: true })
  watch(() => route.path, (path) => {
    unseen.value = unseen.value.filter((o) => pathOf(o) !== path)
  })
  onScopeDispose(() => {
    for (const id of scopes.keys()) stop(id)
  })
}

/** The requests for an order. Those of members are loaded only for members. */
async function sourceOf(order: Awaited): Promise<LiveOrderSource<Order>> {
  if (!order.kind) return orderSource(order.id)
  const { orderSource: ofMember } = await whenLoaded(() => import('../member/api'))
  return ofMember(order.id)
}

/** Loads a part of the app, and tries again when the server is reachable. */
async function whenLoaded<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    await whenReachable()
    return whenLoaded(load)
  }
}

/** What a guest does when the order is ready. */
async function hintOf(order: Awaited): Promise<string> {
  if (!order.kind) return t('confirm.readyHint')
  const { m, ready } = await import('../member/texts')
  await ready()
  return m(order.kind === 'PICKUP' ? 'order.readyPickup' : 'order.readyDelivery')
}

/** Shows a notification. On phones only a service worker can do it; other browsers work without one. */
async function notify(order: Awaited): Promise<void> {
  const title = t('ready.title', { number: order.number })
  const body = await hintOf(order).catch(() => '') // the texts cannot be loaded now
  const options = { body, icon: '/app/icon-192.png', tag: order.id, data: pathOf(order) }
  const registration = await navigator.serviceWorker?.getRegistration()
  if (registration) await registration.showNotification(title, options)
  else new Notification(title, options)
}
