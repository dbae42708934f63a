import type { Key } from '@shared/i18n'

import type { Order } from '../api/dto'

/** A step of an order: a past one or, with `next`, the coming one. */
export interface Step {
  text: Key
  icon: 'check' | 'clock' | 'close'
  at: string // an instant; empty for the next step
  amount?: number // of a refund, in minor units
}

const names: Partial<Record<string, Key>> = {
  PLACED: 'timeline.placed', PAID: 'timeline.paid', CANCELED: 'timeline.canceled', ACCEPTED: 'timeline.accepted',
  PREPARING: 'timeline.preparing', READY: 'timeline.ready', SERVED: 'timeline.served', COMPLETED: 'timeline.completed',
}

/** The past steps of an order and the next one. `kind` is empty at tables. */
export function timelineOf(order: Order, kind: string): Step[] {
  const steps: Step[] = []
  for (const { event, at } of order.timeline) {
    const text = nameOf(event, order, kind)
    if (text) steps.push({ text, icon: event === 'CANCELED' ? 'close' : 'check', at })
  }
  // The timeline's events of refunds have no amounts.
  for (const { amount, createdAt, doneAt } of order.refunds ?? []) {
    steps.push(doneAt
      ? { text: 'timeline.refunded', icon: 'check', at: doneAt, amount }
      : { text: 'timeline.refundDue', icon: 'clock', at: createdAt, amount })
  }
  steps.sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
  const next = nextOf(order, kind)
  return next ? [...steps, { text: next, icon: 'clock', at: '' }] : steps
}

function nameOf(event: string, order: Order, kind: string): Key | undefined {
  if (event === 'CANCELED' && order.cancelReason !== 'USER_CANCELED' && order.cancelReason !== 'STAFF_CANCELED') return 'timeline.expired'
  if (event === 'COMPLETED' && kind === 'DELIVERY') return 'timeline.delivered'
  return names[event]
}

function nextOf(order: Order, kind: string): Key | undefined {
  if (order.paymentStatus !== 'PAID') return undefined
  switch (order.status) {
    case 'PLACED':
    case 'ACCEPTED':
      return 'timeline.nextKitchen'
    case 'PREPARING':
      return 'timeline.nextReady'
    case 'READY':
      return kind === 'PICKUP' ? 'timeline.nextPickup' : 'timeline.nextServed'
    default:
      return undefined
  }
}
