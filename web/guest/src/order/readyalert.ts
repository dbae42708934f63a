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

/** An order, the text of its notification and the page that it opens. */
export interface Awaited {
  id: string
  number: string
  hint: string
  path: string
}

/**
 * Alerts the guest when an order becomes ready. The browser asks for permission only after a tap. The choice is kept for
 * the order until the tab is closed, so that a reload does not lose the alert.
 */
export function useReadyAlert(order: Ref<Awaited>, state: Ref<OrderState | undefined>) {
  const key = `comanda.alert.${order.value.id}`
  const kept = recall(key)
  const canNotify = 'Notification' in window
  const canVibrate = 'vibrate' in navigator
  const alert = ref<ReadyAlert>('none')
  if (kept === 'notify' && canNotify && Notification.permission === 'granted') alert.value = kept
  if (kept === 'vibrate' && canVibrate) alert.value = kept
  const possible = canVibrate || (canNotify && Notification.permission !== 'denied')

  async function ask(): Promise<void> {
    const allowed = canNotify ? await Notification.requestPermission() : 'denied'
    if (allowed === 'granted') alert.value = 'notify'
    else if (allowed === 'denied' && canVibrate) alert.value = 'vibrate' // a dismissed question may be asked again
    remember(key, alert.value)
  }

  watch(state, (is, was) => {
    if (alert.value === 'none' || is !== 'ready' || !isCooking(was)) return
    if (canVibrate) navigator.vibrate([200, 100, 200])
    // A visible page already shows the headline.
    if (alert.value === 'notify' && document.hidden) void notify(order.value)
  })
  return { alert, possible, ask }
}

/** Shows a notification. On phones only a service worker can do it; other browsers work without one. */
async function notify(order: Awaited): Promise<void> {
  const title = t('ready.title', { number: order.number })
  const options = { body: order.hint, icon: '/app/icon-192.png', tag: order.id, data: order.path }
  const registration = await navigator.serviceWorker?.getRegistration()
  if (registration) await registration.showNotification(title, options)
  else new Notification(title, options)
}
