import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createApp, nextTick, shallowReactive, type App } from 'vue'

import { setLanguage } from '@shared/i18n'

import type { Method } from '../api/dto'
import PayPanel from './PayPanel.vue'

vi.mock('../api/public', () => ({ reportSandbox: vi.fn() }))

let app: App
let page: HTMLElement
let shown: { state: string; methods: Method[] }
let arrive: (placed: object) => void
const attempt = vi.fn<(method: Method) => Promise<object>>()
const changed = vi.fn()
const assign = vi.fn()

const button = () => page.querySelector('button')
const chosen = () => page.querySelector<HTMLInputElement>('input:checked')?.value
const answer = () => { arrive({ payment: { redirectUrl: 'https://gateway.example/7' } }) }

beforeEach(async () => {
  await setLanguage('en')
  vi.spyOn(location, 'assign').mockImplementation(assign)
  changed.mockReset()
  assign.mockReset()
  attempt.mockReset().mockImplementation(() => new Promise((resolve) => { arrive = resolve }))
  page = document.body.appendChild(document.createElement('main'))
  shown = shallowReactive({ state: 'failed', methods: ['VNPAY', 'LINEPAY'] })
  app = createApp({
    components: { PayPanel }, setup: () => ({ shown, order: { id: '9', payment: {} }, attempt, changed }),
    template: '<PayPanel v-bind="shown" :order="order" :attempt="attempt" @changed="changed" />',
  })
  app.mount(page)
})
afterEach(() => {
  app.unmount()
  page.remove()
  vi.restoreAllMocks()
})

test('a new attempt leads to the page of the gateway', async () => {
  button()?.click()
  answer()
  await vi.waitFor(() => { expect(changed).toHaveBeenCalledOnce() })
  expect(assign).toHaveBeenCalledWith('https://gateway.example/7')
})

test('a customer who has left the order stays where they are', async () => {
  button()?.click()
  app.unmount()
  answer()
  await new Promise((resolve) => { setTimeout(resolve) })
  expect(assign).not.toHaveBeenCalled()
})

test('an order that was canceled meanwhile is not paid', async () => {
  button()?.click()
  shown.state = 'canceled'
  await nextTick()
  answer()
  await vi.waitFor(() => { expect(changed).toHaveBeenCalledOnce() })
  expect(assign).not.toHaveBeenCalled()
})

test('a method that is no longer offered is replaced by the first one', async () => {
  const linepay = page.querySelector<HTMLInputElement>('input[value=LINEPAY]')
  linepay?.click()
  await nextTick()
  expect(chosen()).toBe('LINEPAY')
  shown.methods = ['COUNTER']
  await nextTick()
  expect(chosen()).toBe('COUNTER')
  button()?.click()
  expect(attempt).toHaveBeenCalledWith('COUNTER')
})
