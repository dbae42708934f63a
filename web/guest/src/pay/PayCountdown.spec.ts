import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createApp, nextTick, shallowReactive, type App } from 'vue'

import { Fault } from '@shared/api/fault'
import { setLanguage } from '@shared/i18n'

import { spoken } from '../shell/announce'
import PayCountdown from './PayCountdown.vue'

const begun = Date.parse('2026-02-26T05:00:00Z')
const prolong = vi.fn<(payBy: string) => Promise<unknown>>()
const changed = vi.fn()

let app: App
let page: HTMLElement
let shown: { order: { payBy: string; moreTime: number }; timezone: string }

/** Mounts the countdown of an order with this many minutes left. */
function mount(minutes: number, moreTime: number): void {
  page = document.body.appendChild(document.createElement('main'))
  shown = shallowReactive({ order: { payBy: new Date(begun + minutes * 60_000).toISOString(), moreTime }, timezone: 'Asia/Ho_Chi_Minh' })
  app = createApp({ components: { PayCountdown }, setup: () => ({ shown, prolong, changed }), template: '<PayCountdown v-bind="shown" :prolong="prolong" @changed="changed" />' })
  app.mount(page)
}

const button = () => page.querySelector('button')
const pass = async (ms: number) => {
  vi.advanceTimersByTime(ms)
  await nextTick()
}

beforeEach(async () => {
  await setLanguage('en')
  vi.useFakeTimers({ now: begun })
  prolong.mockReset().mockResolvedValue({})
  changed.mockReset()
  spoken.value = ''
})
afterEach(() => {
  app.unmount()
  page.remove()
  vi.useRealTimers()
})

test('with five minutes left, more time is offered and announced', async () => {
  mount(6, 2)
  expect(button()).toBeNull()
  await pass(60_000)
  expect(button()?.textContent).toBe('I need 5 more minutes')
  expect(spoken.value).toBe('5 minutes left to pay. You can ask for 5 more minutes.')
  expect(page.textContent).toContain('12:06')
})

test('an order at the last extension only counts down', async () => {
  mount(6, 0)
  await pass(60_000)
  expect(button()).toBeNull()
  expect(spoken.value).toBe('5 minutes left to pay')
  await pass(5 * 60_000)
  expect(page.textContent).toContain('0:00')
})

test('an extension moves the deadline and keeps the focus near the button', async () => {
  mount(4, 2)
  prolong.mockImplementation((payBy) => {
    shown.order = { payBy: new Date(Date.parse(payBy) + 5 * 60_000).toISOString(), moreTime: 1 }
    return Promise.resolve({})
  })
  button()?.click()
  await vi.waitFor(() => { expect(changed).toHaveBeenCalledOnce() })
  await nextTick()
  expect(prolong.mock.calls).toEqual([['2026-02-26T05:04:00.000Z']])
  expect(button()).toBeNull()
  expect(page.textContent).toContain('12:09')
  expect(document.activeElement?.className).toContain('countdown')
})

test.each([
  ['no_more_time', 409, 'pay now'],
  ['not_your_order', 403, 'Only the phone that placed'],
  ['offline', 0, 'try again'],
])('an extension answered with %s (%i) shows %s', async (code, status, text) => {
  mount(4, 1)
  prolong.mockRejectedValue(new Fault(code, status))
  button()?.click()
  await vi.waitFor(() => { expect(changed).toHaveBeenCalledOnce() })
  await nextTick()
  expect(page.querySelector('[role=alert]')?.textContent).toContain(text)
  expect(button()?.disabled).toBe(false)
})
