import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'
import { setLanguage } from '@shared/i18n'

import { spoken } from '../../shell/announce'
import { useBasket } from '../basket'
import type { Basket, ListedOrder } from '../dto'
import { ready } from '../texts'
import OrderAgain from './OrderAgain.vue'

const { api, push } = vi.hoisted(() => ({
  api: { basket: vi.fn(), addDish: vi.fn<(dish: string) => Promise<unknown>>(), emptyBasket: vi.fn<() => Promise<unknown>>(), tokens: { holder: '7' } },
  push: vi.fn(),
}))
vi.mock('../api', () => api)
vi.mock('../branches', async () => {
  const { ref } = await import('vue')
  return { useBranches: () => ({ choose: () => undefined, branch: ref(), dishes: ref(new Map()) }) }
})
vi.mock('vue-router', () => ({ useRouter: () => ({ push }) }))

let refused: Record<string, Fault> // by dish

beforeEach(async () => {
  setActivePinia(createPinia())
  await ready()
  await setLanguage('en')
  refused = {}
  spoken.value = ''
  push.mockReset()
  api.basket.mockReset().mockResolvedValue({ items: [] })
  api.emptyBasket.mockReset().mockResolvedValue({})
  api.addDish.mockReset().mockImplementation((dish) => (refused[dish] ? Promise.reject(refused[dish]) : Promise.resolve({ id: '1', quantity: 1 })))
})
enableAutoUnmount(afterEach)

const items = ['Pho', 'Tea', 'Bun'].map((name, at) => ({ dishId: String(at + 1), name, qty: 1 }))

function order() {
  const page = mount(OrderAgain, { props: { order: { number: 'A1', branchId: '1', items } as unknown as ListedOrder } })
  const press = async () => {
    await page.get('button').trigger('click')
    await flushPromises()
    return page.get('[role=alert]').text()
  }
  return { press, added: () => api.addDish.mock.calls.map(([dish]) => dish) }
}

test('missing dishes are named in the cart', async () => {
  refused = { 2: new Fault('dish_not_found', 404) }
  await order().press()
  expect(push).toHaveBeenCalledWith({ name: 'basket' })
  expect([useBasket().vanished, spoken.value]).toEqual([['Tea'], 'The menu has changed. No longer available: Tea.'])
})

test('an order without any dish of the menu stays', async () => {
  for (const i of items) refused[i.dishId] = new Fault('dish_not_found', 404)
  expect(await order().press()).toBe('None of these dishes are available now.')
  expect(push).not.toHaveBeenCalled()
})

test('beside dishes whose options have changed, missing ones are named', async () => {
  refused = { 1: new Fault('option_unknown', 422, { itemId: '11' }), 2: new Fault('dish_not_found', 404) }
  const text = await order().press()
  expect(text).toContain('choose again on the menu: Pho')
  expect(text).toContain('No longer available: Tea')
  expect(push).not.toHaveBeenCalled()
})

test.each([
  [new Fault('offline'), 'reach'], [new Fault('rate_limited', 429, {}, 4), '4 seconds'], [new Fault('busy', 503), 'busy'], [new Fault('cart_full', 409), 'more than'],
])('%o stops, and the next attempt adds the rest', async (fault, text) => {
  refused = { 2: fault }
  const { press, added } = order()
  const shown = await press()
  expect(shown).not.toContain('available')
  expect(shown).toContain(text)
  expect([added(), push.mock.calls]).toEqual([['1', '2'], []])
  refused = {}
  expect(await press()).toBe('')
  expect(added()).toEqual(['1', '2', '2', '3'])
  expect([push.mock.calls.length, useBasket().vanished]).toEqual([1, []])
})

test('a cart of another branch that cannot be emptied is kept', async () => {
  useBasket().basket = { branchId: '2', items: [{ id: '1' }] } as unknown as Basket
  api.emptyBasket.mockRejectedValueOnce(new Fault('offline'))
  const { press, added } = order()
  expect(await press()).toContain('reach')
  expect([added(), push.mock.calls]).toEqual([[], []])
})
