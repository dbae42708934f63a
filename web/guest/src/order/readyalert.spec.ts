import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope, nextTick, ref, type EffectScope } from 'vue'

import { setLanguage } from '@shared/i18n'

import type { OrderState } from './orderstate'
import { useReadyAlert } from './readyalert'

const first = { id: 'o1', number: 'A-042', hint: 'Come and pick it up', path: '/app/orders/o1' }
const order = ref(first)
const shown = vi.fn()
const vibrate = vi.fn()
let permission = 'granted'
let hidden = true
let scope: EffectScope

beforeEach(async () => {
  await setLanguage('en')
  permission = 'granted'
  hidden = true
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
  scope = effectScope()
  sessionStorage.clear()
  order.value = first
})

afterEach(() => {
  scope.stop()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  shown.mockReset()
  vibrate.mockReset()
})

/** Follows an order through these states, with or without the alert. */
async function go(asks: boolean, ...states: OrderState[]): Promise<void> {
  const state = ref(states[0])
  const ready = scope.run(() => useReadyAlert(order, state))
  if (asks) await ready?.ask()
  for (const next of states.slice(1)) {
    state.value = next
    await nextTick()
    await Promise.resolve()
  }
}

test('a guest who asked for the alert is notified once when the order is ready', async () => {
  await go(true, 'paid', 'preparing', 'ready', 'served')
  await vi.waitFor(() => {
    expect(shown.mock.calls).toEqual([['Order A-042 is ready', 'Come and pick it up', '/app/orders/o1']])
  })
  expect(vibrate).toHaveBeenCalledTimes(1)
})

test('a visible page causes no alert', async () => {
  hidden = false
  await go(true, 'preparing', 'ready')
  expect(vibrate).toHaveBeenCalledTimes(1)
  expect(shown).not.toHaveBeenCalled()
})

test('without the permission the phone vibrates', async () => {
  permission = 'denied'
  await go(true, 'preparing', 'ready')
  expect(vibrate).toHaveBeenCalledTimes(1)
  expect(shown).not.toHaveBeenCalled()
})

test('there is no alert without a request, or before the order is ready', async () => {
  await go(false, 'preparing', 'ready')
  await go(true, 'preparing', 'refund')
  await go(true, 'ready', 'served')
  expect(vibrate).not.toHaveBeenCalled()
  expect(shown).not.toHaveBeenCalled()
})

test('the alert of one order is kept over a reload', async () => {
  await go(true, 'preparing')
  scope.stop() // the page is reloaded
  scope = effectScope()
  await go(false, 'preparing', 'ready')
  expect(vibrate).toHaveBeenCalledTimes(1)
  order.value = { id: 'o2', number: 'A-043', hint: '', path: '/app/orders/o2' }
  await go(false, 'preparing', 'ready')
  expect(vibrate).toHaveBeenCalledTimes(1)
})

test('a permission that was withdrawn ends a kept alert, and a dismissed question may be asked again', async () => {
  await go(true, 'preparing')
  permission = 'default'
  const state = ref<OrderState>('preparing')
  const ready = scope.run(() => useReadyAlert(order, state))
  expect(ready?.alert.value).toBe('none')
  await ready?.ask()
  expect([ready?.alert.value, ready?.possible]).toEqual(['none', true])
})
