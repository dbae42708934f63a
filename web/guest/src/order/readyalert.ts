import { computed, shallowRef, type Ref } from 'vue'

import { recall, remember } from '../shell/preferences'
import type { OrderState } from './orderstate'

/** An order that can become ready. A member's order has a kind, a table's order has none. */
export interface Awaited {
  id: string
  number: string
  kind?: string // PICKUP or DELIVERY
}

/** An order whose guest wants an alert: a notification, or only a vibration. */
export interface ReadyAlert extends Awaited {
  by: 'notify' | 'vibrate'
}

const key = 'comanda.alerts'
const before: readonly (OrderState | undefined)[] = ['paid', 'accepted', 'preparing']

/** The alerts that are still to come. They are stored until the tab is closed, so that a reload does not lose them. */
export const alerts = shallowRef<readonly ReadyAlert[]>([])

/** The ready orders whose page the guest has not seen since. */
export const unseen = shallowRef<readonly Awaited[]>([])

/** Restores the alerts that this tab has stored. */
export function restoreAlerts(): void {
  try {
    const stored: unknown = JSON.parse(recall(key) ?? '[]')
    alerts.value = Array.isArray(stored) ? stored.filter(isAlert) : []
  } catch {
    alerts.value = []
  }
}

function isAlert(a: Partial<ReadyAlert> | null): a is ReadyAlert {
  return typeof a?.id === 'string' && typeof a.number === 'string' && (a.by === 'notify' || a.by === 'vibrate')
}

function store(next: readonly ReadyAlert[]): void {
  alerts.value = next
  remember(key, JSON.stringify(next))
}

/** Ends the alert of an order, and reports whether there was one. */
export function endAlert(id: string): boolean {
  const rest = alerts.value.filter((a) => a.id !== id)
  if (rest.length === alerts.value.length) return false
  store(rest)
  return true
}

/** Forgets the orders of the table's guest, or those of the member, who has left this phone. */
export function forgetAlerts(whose: 'guest' | 'member'): void {
  const stays = (a: Awaited) => (a.kind !== undefined) !== (whose === 'member')
  if (!alerts.value.every(stays)) store(alerts.value.filter(stays))
  unseen.value = unseen.value.filter(stays)
}

/** Whether an order can still become ready, so that the alert is offered. */
export function isCooking(state: OrderState | undefined): boolean {
  return before.includes(state)
}

/** The page of an order. */
export function pathOf(order: Awaited): string {
  return `${order.kind ? '/shop' : '/app'}/orders/${order.id}`
}

const canNotify = () => 'Notification' in window
export const canVibrate = () => 'vibrate' in navigator

/** Whether an alert still reaches the guest, who may have withdrawn the permission. */
export function works(alert: ReadyAlert): boolean {
  return alert.by === 'notify' ? canNotify() && Notification.permission === 'granted' : canVibrate()
}

/** Offers the alert of an order. The browser asks for permission only after a tap. */
export function useReadyAlert(order: Ref<Awaited>) {
  const possible = canVibrate() || (canNotify() && Notification.permission !== 'denied')
  const alert = computed(() => alerts.value.find((a) => a.id === order.value.id && works(a))?.by)

  async function ask(): Promise<void> {
    const allowed = canNotify() ? await Notification.requestPermission() : 'denied'
    endAlert(order.value.id)
    if (allowed === 'granted') {
      store([...alerts.value, { ...order.value, by: 'notify' }])
      void import('../notices/auto').then(({ pushToo }) => pushToo(order.value.kind !== undefined)).catch(() => undefined)
    }
    // A dismissed question may be asked again.
    else if (allowed === 'denied' && canVibrate()) store([...alerts.value, { ...order.value, by: 'vibrate' }])
  }

  return { alert, possible, ask }
}
