import { ref, watch, type Ref } from 'vue'

import { t } from '@shared/i18n'

import { recall, remember } from '../shell/preferences'
import type { OrderState } from './orderstate'

/** The alert that the guest has chosen: none yet, a notification, or a vibration while the page is open. */
export type ReadyAlert = 'none' | 'notify' | 'vibrate'

const before: readonly (OrderState | undefined)[] = ['paid', 'accepted', 'preparing']

/** Whether an order can still become ready, so that the alert is offered. */
export function isCooking(state: OrderState | undefined): boolean {
  return before.includes(state)
}

/** An order and the page that its notification opens. */
export interface Awaited {
  id: string
  number: string
  path: string
}

/**
 * Alerts the guest when an order becomes ready. The browser asks for permission only after a tap. The choice is kept for
 * the order until the tab is closed, so that a reload does not lose the alert.
 */
export function useReadyAlert(order: Ref<Awaited>, state: Ref<OrderState | undefined>) {
  const key = `comanda.alert.${order.value.id}`
  const kept = recall(key)
  const alert = ref<ReadyAlert>(kept === 'notify' || kept === 'vibrate' ? kept : 'none')
  const possible = 'Notification' in window || 'vibrate' in navigator

  async function ask(): Promise<void> {
    const allowed = 'Notification' in window ? await Notification.requestPermission() : 'denied'
    alert.value = allowed === 'granted' ? 'notify' : 'vibrate'
    remember(key, alert.value)
  }

  watch(state, (is, was) => {
    if (alert.value === 'none' || is !== 'ready' || !isCooking(was)) return
    if ('vibrate' in navigator) navigator.vibrate([200, 100, 200])
    // A visible page already shows the headline.
    if (alert.value === 'notify' && document.hidden) void notify(order.value)
  })
  return { alert, possible, ask }
}

/** Shows a notification. On phones only a service worker can do it; other browsers work without one. */
async function notify(order: Awaited): Promise<void> {
  const title = t('ready.title', { number: order.number })
  const options = { body: t('confirm.readyHint'), icon: '/app/icon-192.png', tag: order.id, data: order.path }
  const registration = await navigator.serviceWorker?.getRegistration()
  if (registration) await registration.showNotification(title, options)
  else new Notification(title, options)
}
