import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, test, vi } from 'vitest'
import { effectScope } from 'vue'

import { Fault } from '@shared/api/fault'

import type { Menu, Method } from '../api/dto'
import { useCart } from '../cart/cart'
import { useMenu } from '../menu/menu'
import { useSession } from '../table/session'
import { useCheckout } from './checkout'

const { api, replace } = vi.hoisted(() => ({ api: { createOrder: vi.fn(), activeMenu: vi.fn(), tableCart: vi.fn(), quoteOrder: vi.fn(), ordersOfVisit: vi.fn() }, replace: vi.fn() }))
vi.mock('../api/public', () => ({ ...api, guestHeaders: () => ({}), land: () => Promise.resolve({}), useToken: () => undefined }))
vi.mock('vue-router', () => ({ useRouter: () => ({ replace }) }))

const menuAt = (price: number, menuVersionId = '5') => ({
  menuVersionId, bizDate: '', currency: 'VND', categories: [{ id: '1', name: 'all', items: [{
    itemId: '1', dishId: '1', name: 'tea', description: '', imageUrl: null, price, isActive: true, isSoldOut: false, remaining: null,
  }] }],
}) as Partial<Menu>
const line = { itemId: '1', qty: 1, notes: '', name: 'tea', price: 3000 }

beforeEach(async () => {
  localStorage.clear()
  document.body.innerHTML = '<script id="boot" type="application/json">{"methods":["VNPAY","COUNTER","SANDBOX"]}</script>'
  setActivePinia(createPinia())
  api.createOrder.mockReset()
  replace.mockReset()
  api.activeMenu.mockReset().mockResolvedValue(menuAt(3000))
  useSession().draft = {
    schemaVersion: 1, visitToken: 't', visitId: 'v', branch: { id: '1', name: 'x', currency: 'VND', timezone: 'UTC', locales: [], sharedCart: false },
    table: { id: '1', label: 'A1' }, menuVersion: '5', cartDraft: [line], clientTxnId: 'first',
  }
  await useMenu().load('1', '1')
})

const checkout = () => effectScope().run(useCheckout) as ReturnType<typeof useCheckout>

test('a gateway is not offered while the cart is below its minimum amount', () => {
  const { methods, method } = checkout()
  const cart = useCart()
  expect([methods.value, method.value]).toEqual([['COUNTER', 'SANDBOX'], 'COUNTER'])
  cart.change('1 ', 2)
  method.value = 'VNPAY'
  cart.change('1 ', 1)
  expect(method.value).toBe<Method>('COUNTER')
  cart.change('1 ', 2)
  expect(method.value).toBe<Method>('VNPAY')
})

test('a refused order keeps its key; a placed one empties the cart, and the next has a new key', async () => {
  const { order, trouble } = checkout()
  api.createOrder.mockRejectedValueOnce(new Fault('sold_out', 409))
  await order()
  expect(trouble.value?.text).toBe('review.soldOut')
  expect(useSession().draft?.clientTxnId).toBe('first')
  api.createOrder.mockResolvedValueOnce({ id: '9', payment: {} })
  await order()
  expect(api.createOrder.mock.calls.map(([body]) => (body as { clientTxnId: string }).clientTxnId)).toEqual(['first', 'first'])
  expect(replace).toHaveBeenCalledWith({ name: 'confirm', params: { id: '9' } })
  expect(useCart().empty).toBe(true)
  expect(useSession().draft?.clientTxnId).not.toBe('first')
})

test('the guest has to accept a changed price before ordering', async () => {
  const { order, asked } = checkout()
  api.activeMenu.mockResolvedValue(menuAt(4000))
  api.createOrder.mockRejectedValueOnce(new Fault('price_changed', 409, { currentTotal: 4000 }))
  await order()
  expect(api.createOrder.mock.lastCall?.[0]).toMatchObject({ expectedTotal: 3000 })
  expect(asked.value).toBe(4000)
  const cart = useCart()
  cart.change(cart.shown[0]?.key ?? '', 2) // a changed cart has another total
  expect(asked.value).toBe(0)
})

test('an order that has become cheaper is placed at its new price, and its page says so', async () => {
  const { order, asked } = checkout()
  api.createOrder.mockRejectedValueOnce(new Fault('price_changed', 409, { currentTotal: 2500 })).mockResolvedValueOnce({ id: '9', payment: {} })
  await order()
  expect(api.createOrder.mock.calls.map(([b]) => b as object)).toMatchObject([
    { expectedTotal: 3000, clientTxnId: 'first' }, { expectedTotal: 2500, clientTxnId: 'first' },
  ])
  expect(asked.value).toBe(0)
  expect(replace).toHaveBeenCalledWith({ name: 'confirm', params: { id: '9' }, state: { cheaper: true } })
})

test('a cart that a new menu has made cheaper says so and can be ordered', async () => {
  const { order, cheaper, trouble } = checkout()
  expect(cheaper.value).toBe(false)
  api.activeMenu.mockResolvedValue(menuAt(2500, '6'))
  await useMenu().load()
  expect([cheaper.value, trouble.value]).toEqual([true, undefined])
  api.createOrder.mockResolvedValueOnce({ id: '9', payment: {} })
  await order()
  expect(api.createOrder.mock.lastCall?.[0]).toMatchObject({ expectedTotal: 2500 })
})

test('an order of a shared cart names its lines, and a changed cart is shown before it is ordered', async () => {
  const cart = { version: 1, lines: [{ id: 'line-1', phone: 2, mine: false, itemId: '1', name: 'tea', qty: 2, notes: 'hot' }] }
  api.tableCart.mockReset().mockResolvedValue(cart)
  useSession().keep({ cartDraft: [] })
  useSession().share(true)
  const { order, trouble } = checkout()
  await useCart().reload()
  api.createOrder.mockRejectedValueOnce(new Fault('cart_changed', 409))
  api.tableCart.mockResolvedValue({ version: 2, lines: [] })
  await order()
  expect(api.createOrder.mock.lastCall?.[0]).toMatchObject({
    items: [{ itemId: '1', qty: 2, notes: 'hot', lineId: 'line-1' }], expectedTotal: 6000,
  })
  expect(trouble.value?.text).toBe('review.cartChanged')
  expect(useCart().empty).toBe(true)
})

test('an order of a shared cart whose answer was lost is not mistaken for another phone’s', async () => {
  const lines = [{ id: 'line-1', phone: 1, mine: true, itemId: '1', name: 'tea', qty: 1, notes: '' }]
  api.tableCart.mockReset().mockResolvedValue({ version: 1, lines })
  useSession().keep({ cartDraft: [] })
  useSession().share(true)
  const { order, trouble, state, giveUp } = checkout()
  await useCart().reload()
  api.createOrder.mockRejectedValue(new Fault('offline'))
  const ordering = order()
  await vi.waitFor(() => { expect(state.value).toBe('waiting') })
  giveUp()
  await ordering
  api.tableCart.mockResolvedValue({ version: 2, lines: [] }) // the server has removed the ordered lines
  await useCart().reload()
  await order()
  expect(trouble.value).toEqual({ text: 'review.arrived', link: true })
  expect(useSession().draft?.clientTxnId).not.toBe('first')
  expect(api.createOrder).toHaveBeenCalledOnce()
})

test('an order whose answer comes after the guest has left leaves a changed cart alone, and the next order finds it', async () => {
  const scope = effectScope()
  const first = scope.run(useCheckout) as ReturnType<typeof useCheckout>
  let answer: (placed: object) => void = () => undefined
  api.createOrder.mockReturnValueOnce(new Promise((resolve) => { answer = resolve }))
  const ordering = first.order()
  await vi.waitFor(() => { expect(api.createOrder).toHaveBeenCalledOnce() })
  scope.stop() // the browser’s Back
  useCart().change('1 ', 2)
  answer({ id: '9', payment: { redirectUrl: '/pay' } })
  await ordering
  expect([useCart().count, replace.mock.calls.length, useSession().draft?.clientTxnId]).toEqual([2, 0, 'first'])
  const { order, trouble } = checkout()
  api.createOrder.mockRejectedValueOnce(new Fault('idempotency_mismatch', 409))
  await order()
  expect(api.createOrder.mock.lastCall?.[0], 'the next order').toMatchObject({ clientTxnId: 'first' })
  expect(trouble.value).toEqual({ text: 'review.arrived', link: true })
})

test('an unchanged cart is emptied when the answer comes after the guest has left, and the header shows the order', async () => {
  const scope = effectScope()
  const { order } = scope.run(useCheckout) as ReturnType<typeof useCheckout>
  api.ordersOfVisit.mockReset().mockResolvedValue({ orders: [], table: { id: '1', label: 'A1' } })
  api.createOrder.mockImplementationOnce(() => {
    scope.stop()
    return Promise.resolve({ id: '9', payment: {} })
  })
  await order()
  expect([useCart().empty, replace.mock.calls.length, api.ordersOfVisit.mock.calls]).toEqual([true, 0, [['v']]])
  expect(useSession().draft?.clientTxnId).not.toBe('first')
})

test.each([
  ['option_unknown', { itemId: '1', optionId: '17' }], ['options_invalid', { itemId: '1', groupId: '3' }],
  ['sold_out', { lines: [{ itemId: '1', optionId: '17', requested: 1, available: 0 }] }],
])('%s leads to the line whose options have to be chosen again', async (code, problem) => {
  useSession().keep({ cartDraft: [{ ...line, options: [{ optionId: '17', qty: 1, name: 'L', price: 0 }] }] })
  const { order, trouble } = checkout()
  const L = { id: '17', name: 'L', price: 0, isDefault: false, isAvailable: true }
  const menu = menuAt(3000)
  const item = menu.categories?.[0]?.items[0]
  if (item) item.groups = [{ id: '3', kind: 'CHOICE', name: 'Size', min: 0, max: 1, free: 0, maxEach: 1, credit: false, defaultsCharge: true, options: [L] }]
  api.activeMenu.mockResolvedValue(menu)
  await useMenu().load()
  api.createOrder.mockRejectedValueOnce(new Fault(code, 422, problem))
  await order()
  expect(api.createOrder.mock.lastCall?.[0], 'the request has the options').toMatchObject({ items: [{ options: [{ optionId: '17', qty: 1 }] }] })
  expect(trouble.value?.text, 'trouble').toBe('review.choose')
  expect(useCart().obstacle?.problem?.code, 'problem of the line').toBe('changed')
})
