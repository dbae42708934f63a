import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope, nextTick, reactive, ref, shallowRef, type EffectScope } from 'vue'

import { Fault } from '@shared/api/fault'
import { setLanguage } from '@shared/i18n'

import type { Order } from '../api/dto'
import { alerts, forgetAlerts, restoreAlerts, unseen, useReadyAlert, type Awaited } from './readyalert'
import { useReadyAlerts } from './useReadyAlerts'

interface Live {
  order: ReturnType<typeof shallowRef<Order>>
  fault: ReturnType<typeof shallowRef<Fault>>
  streamed: boolean
}

const route = reactive({ path: '/app/order' })
const live = new Map<string, Live>()
vi.mock('vue-router', () => ({ useRoute: () => route }))
vi.mock('./useLiveOrder', async () => {
  const { onScopeDispose } = await import('vue')
  return {
    useLiveOrder: ({ url }: { url: string }, streamed: boolean) => {
      const made: Live = { order: shallowRef<Order>(), fault: shallowRef<Fault>(), streamed }
      live.set(url, made)
      onScopeDispose(() => live.delete(url))
      return made
    },
  }
})

const first = { id: 'o1', number: 'A-042' }
const shown = vi.fn()
const vibrate = vi.fn()
let permission = 'granted'
let hidden = true
let scope: EffectScope

const settled = async () => {
  for (let i = 0; i < 5; i++) await nextTick()
}

/** Starts the app, as a reload does. */
async function open(): Promise<void> {
  scope?.stop()
  scope = effectScope()
  scope.run(useReadyAlerts)
  await settled()
}

/** Asks for the alert of an order on its page. */
async function ask(order: Awaited): Promise<void> {
  await effectScope().run(() => useReadyAlert(ref(order)))?.ask()
  await settled()
}

/** Makes a followed order go through these states. */
async function go(url: string, ...states: string[]): Promise<void> {
  for (const status of states) {
    const followed = live.get(url)
    if (followed) followed.order.value = { paymentStatus: 'PAID', status } as Order
    await settled()
  }
}

beforeEach(async () => {
  await setLanguage('en')
  permission = 'granted'
  hidden = true
  route.path = '/app/order'
  // eslint-disable-next-line @typescript-eslint/no-extraneous-class -- the app uses nothing else of the browser's class
  vi.stubGlobal('Notification', class {
    static requestPermission = () => Promise.resolve(permission)
    static get permission() {
      return permission
    }
    constructor(title: string, options: { body: string; data: string }) {
      shown(title, options.body, options.data)
    }
  })
  Object.defineProperty(navigator, 'vibrate', { value: vibrate, configurable: true })
  Object.defineProperty(navigator, 'serviceWorker', { value: undefined, configurable: true })
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden)
  sessionStorage.clear()
  unseen.value = []
  await open()
})

afterEach(() => {
  scope.stop()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  shown.mockReset()
  vibrate.mockReset()
})

test('a guest who asked for the alert is notified once, on any page', async () => {
  await ask(first)
  await go('/cis/order/o1/events', 'ACCEPTED', 'PREPARING', 'READY', 'READY')
  await vi.waitFor(() => {
    expect(shown.mock.calls).toEqual([['Order A-042 is ready', 'We’re bringing it to your table.', '/app/orders/o1']])
  })
  expect(vibrate).toHaveBeenCalledTimes(1)
  expect(unseen.value.map((o) => o.number)).toEqual(['A-042'])
  expect(live.size).toBe(0) // the order is no longer followed
  await open()
  expect(live.size).toBe(0) // neither after a reload
})

test('a guest on a visible page sees a notice until the order’s page is open', async () => {
  hidden = false
  await ask(first)
  await go('/cis/order/o1/events', 'READY')
  await vi.waitFor(() => { expect(shown).toHaveBeenCalledTimes(1) })
  expect(unseen.value).toHaveLength(1)
  route.path = '/app/orders/o1'
  await settled()
  expect(unseen.value).toEqual([])
})

test('the visible page of the order only vibrates: its headline shows the state', async () => {
  hidden = false
  route.path = '/app/orders/o1'
  await ask(first)
  await go('/cis/order/o1/events', 'READY')
  expect(vibrate).toHaveBeenCalledTimes(1)
  expect([shown.mock.calls, unseen.value]).toEqual([[], []])
})

test('a member is notified too, with the hint for a pickup', async () => {
  await ask({ id: 'm1', number: 'B-007', kind: 'PICKUP' })
  await vi.waitFor(() => { expect([...live.keys()]).toEqual(['/orders/m1/events']) }, 10_000) // a part is loaded first
  await go('/orders/m1/events', 'READY')
  await vi.waitFor(() => {
    expect(shown.mock.calls).toEqual([
      ['Order B-007 is ready', 'Come and pick it up. Show this number at the counter.', '/shop/orders/m1'],
    ])
  })
})

test('without the permission the phone vibrates', async () => {
  permission = 'denied'
  await ask(first)
  await go('/cis/order/o1/events', 'READY')
  expect(vibrate).toHaveBeenCalledTimes(1)
  expect(shown).not.toHaveBeenCalled()
})

test('an alert outlives a reload, even if the order became ready meanwhile', async () => {
  await ask(first)
  await open()
  await go('/cis/order/o1/events', 'READY')
  expect(vibrate).toHaveBeenCalledTimes(1)
})

test('an order that ended, or that this phone may no longer see, ends its alert silently', async () => {
  await ask(first)
  const followed = live.get('/cis/order/o1/events') as Live
  followed.fault.value = new Fault('offline')
  await settled()
  expect(alerts.value).toHaveLength(1) // a lost connection ends nothing
  followed.fault.value = new Fault('order_not_found', 404)
  await settled()
  expect(alerts.value).toEqual([])
  await ask(first)
  await go('/cis/order/o1/events', 'PREPARING', 'COMPLETED')
  expect(alerts.value).toEqual([])
  expect(vibrate).not.toHaveBeenCalled()
})

test('a guest or a member who leaves the phone takes their own orders along', async () => {
  await ask(first)
  await ask({ id: 'm1', number: 'B-007', kind: 'DELIVERY' })
  await vi.waitFor(() => { expect(live.size).toBe(2) })
  forgetAlerts('member')
  await settled()
  expect([...live.keys()]).toEqual(['/cis/order/o1/events'])
  await go('/cis/order/o1/events', 'READY')
  expect(unseen.value).toHaveLength(1)
  forgetAlerts('member')
  expect(unseen.value).toHaveLength(1)
  forgetAlerts('guest')
  expect(unseen.value).toEqual([])
})

test('one order has a stream, the others are polled', async () => {
  for (const id of ['o1', 'o2', 'o3']) await ask({ id, number: id })
  expect([...live.values()].map((l) => l.streamed)).toEqual([true, false, false])
  await open()
  expect([...live.values()].map((l) => l.streamed)).toEqual([true, false, false])
})

test('a permission that was withdrawn ends a stored alert, and a dismissed question may be asked again', async () => {
  await ask(first)
  permission = 'default'
  restoreAlerts()
  const ready = useReadyAlert(ref(first))
  expect(ready.alert.value).toBeUndefined()
  await ready.ask()
  expect([ready.alert.value, ready.possible]).toEqual([undefined, true])
})

test.each(['', '{}', '[null, 7, {"id":"o1"}]'])('the stored alerts %j are none', (stored) => {
  sessionStorage.setItem('comanda.alerts', stored)
  restoreAlerts()
  expect(alerts.value).toEqual([])
})
