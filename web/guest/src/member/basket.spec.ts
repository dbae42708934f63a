import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'

import { useAccount } from './account'
import { shown, useBasket } from './basket'
import type { Account, Basket, BasketItem } from './dto'

const item = (change: Partial<BasketItem> = {}): BasketItem => ({
  id: '1', cartId: '1', dishId: '4', itemId: '11', name: 'Phở bò', imageUrl: null, quantity: 2, price: 100, total: 200, previousPrice: 100,
  priceChanged: false, remaining: null, isSoldOut: false, isAvailable: true, ...change,
})

const { api } = vi.hoisted(() => ({ api: { basket: vi.fn(), addDish: vi.fn(), setQuantity: vi.fn(), removeDish: vi.fn(), tokens: { holder: '7' } } }))
vi.mock('./api', () => api)

/** A server that keeps a cart. */
let kept: Basket

beforeEach(() => {
  setActivePinia(createPinia())
  kept = { id: '1', branchId: '1', menuVersionId: '5', currency: 'VND', items: [item(), item({ id: '2', dishId: '5' })], totalPrice: 400, version: 1 }
  api.basket.mockReset().mockImplementation(() => Promise.resolve(structuredClone(kept)))
  api.setQuantity.mockReset().mockImplementation((id: string, quantity: number) => {
    kept.items = (kept.items ?? []).map((i) => (i.id === id ? { ...i, quantity } : i))
    return Promise.resolve()
  })
  api.removeDish.mockReset().mockImplementation((id: string) => {
    kept.items = (kept.items ?? []).filter((i) => i.id !== id)
    return Promise.resolve()
  })
})

async function loaded() {
  useAccount().user = { id: '7' } as Account
  const basket = useBasket()
  await vi.waitFor(() => {
    expect(basket.basket).toBeDefined()
  })
  return basket
}

test.each([
  [{}, { available: 20, gone: false, onMenu: true, price: 100 }],
  [{ remaining: 1, isSoldOut: true }, { available: 1, gone: false }],
  [{ remaining: 0, isSoldOut: true }, { available: 0, gone: true, onMenu: true }],
  [{ isAvailable: false, itemId: null, price: 0 }, { available: 0, gone: true, onMenu: false, price: 100 }],
] as const)('%j is shown as %j', (change, want) => {
  expect(shown(item(change))).toMatchObject(want)
})

test('a line whose dish no longer has its options is not gone, but has to be chosen again', () => {
  const dish = { ...item(), itemId: '11', description: '', isActive: true, isSoldOut: false, remaining: 3 }
  const line = item({ isAvailable: false, price: 0, options: [{ optionId: '17', qty: 1, name: '', price: 0 }] })
  expect(shown(line, dish), 'line').toMatchObject({ onMenu: true, available: 3, gone: false, price: 100, problem: { code: 'gone', names: [] } })
  expect(shown(line), 'line without a menu').toMatchObject({ onMenu: false, gone: true })
})

test('a line that is not available is not charged and blocks the order', async () => {
  kept.items = [item({ remaining: 0, isSoldOut: true }), item({ id: '2', quantity: 1 })]
  const basket = await loaded()
  expect([basket.count, basket.total, basket.obstacle?.key]).toEqual([1, 100, '1'])
})

/** The cart of a server whose menu for delivery lacks dish 4. */
const withoutDelivery = (kind?: string): Basket =>
  ({ ...kept, items: [item(kind === 'PICKUP' ? { itemId: '21', price: 90 } : { remaining: 0, isSoldOut: true })] })

test('the cart is loaded for the chosen kind of order', async () => {
  const basket = await loaded()
  api.basket.mockImplementation((kind?: string) => Promise.resolve(withoutDelivery(kind)))
  const chosen = basket.choose('DELIVERY')
  expect(basket.current, 'before the answer').toBe(false)
  await chosen
  expect([basket.current, basket.obstacle?.key, basket.other]).toEqual([true, '1', 'PICKUP'])
  await basket.choose('PICKUP')
  expect([basket.obstacle, basket.other, basket.total]).toEqual([undefined, undefined, 180])
  await basket.set('1', 3)
  expect(api.basket.mock.lastCall, 'after a change').toEqual(['PICKUP'])
})

test('before a choice, a cart that can only be picked up is shown so', async () => {
  api.basket.mockImplementation((kind?: string) => Promise.resolve(withoutDelivery(kind)))
  const basket = await loaded()
  expect([basket.obstacle, basket.other, basket.total]).toEqual([undefined, 'PICKUP', 180])
  api.basket.mockReset().mockImplementation((kind?: string) => (kind ? Promise.reject(new Fault('down', 0)) : Promise.resolve(withoutDelivery())))
  await basket.load()
  expect([basket.obstacle?.key, basket.other, basket.fault], 'without the other answers').toEqual(['1', undefined, undefined])
})

test('before a choice, dishes of several menus are compared with the kind that the checkout begins with', async () => {
  // The server shows the dish of the menu that has units left.
  api.basket.mockImplementation((kind?: string) => Promise.resolve(withoutDelivery(kind ?? 'PICKUP')))
  const basket = await loaded()
  expect([basket.obstacle, basket.other, basket.total]).toEqual([undefined, 'PICKUP', 180])
  api.basket.mockReset().mockImplementation((kind?: string) => (kind ? Promise.reject(new Fault('down', 0)) : Promise.resolve(withoutDelivery('PICKUP'))))
  await basket.load()
  expect([basket.obstacle, basket.other, basket.fault], 'without the other answers').toEqual([undefined, undefined, undefined])
})

test('the answer for a kind that is no longer chosen is dropped', async () => {
  const basket = await loaded()
  let late: (cart: Basket) => void = () => undefined
  api.basket.mockImplementationOnce(() => new Promise((resolve) => { late = resolve }))
  const first = basket.choose('DELIVERY')
  await basket.choose('PICKUP')
  late(withoutDelivery())
  await first
  expect([basket.current, basket.obstacle]).toEqual([true, undefined])
})

test('the options of another item of the dish are no problem of a line', () => {
  const dish = { ...item(), itemId: '11', description: '', isActive: true, isSoldOut: false, remaining: 3, groups: [] }
  const line = item({ itemId: '21', options: [{ optionId: '17', qty: 1, name: 'L', price: 0 }] })
  expect(shown(line, dish)).toMatchObject({ onMenu: true, gone: false, problem: undefined })
})

test('changes are shown at once and sent one after the other', async () => {
  const basket = await loaded()
  const first = basket.set('1', 3)
  const second = basket.set('1', 4)
  expect(basket.items[0]?.quantity).toBe(4)
  await Promise.all([first, second])
  expect(api.setQuantity.mock.calls).toEqual([['1', 3], ['1', 4]])
  expect(basket.items[0]?.quantity).toBe(4)
  await basket.set('2', 0)
  expect(api.removeDish).toHaveBeenCalledWith('2')
  expect(basket.items.map((i) => i.id)).toEqual(['1'])
})

test('a refused change is undone and reported', async () => {
  const basket = await loaded()
  api.setQuantity.mockRejectedValueOnce(new Fault('cart_full', 409))
  await basket.set('1', 20)
  expect(basket.refusal?.code).toBe('cart_full')
  expect(basket.items[0]?.quantity).toBe(2)
  await basket.set('1', 3)
  expect(basket.refusal).toBeUndefined()
})

test('a menu card changes the line of its dish or adds one', async () => {
  const basket = await loaded()
  await basket.put('4', 3, '1')
  expect(api.setQuantity.mock.calls).toEqual([['1', 3]])
  api.addDish.mockReset().mockResolvedValue(undefined)
  await Promise.all([basket.put('6', 1, '1'), basket.put('6', 1, '1')]) // two taps before the first is answered
  expect(api.addDish.mock.calls).toEqual([['6', 1, '1', []], ['6', 1, '1', []]])
  api.addDish.mockRejectedValueOnce(new Fault('sold_out', 409))
  await basket.put('7', 1, '1')
  expect(basket.refusal?.code).toBe('sold_out')
  await basket.put('4', 0, '1')
  expect(api.removeDish).toHaveBeenCalledWith('1')
  expect(basket.refusal).toBeUndefined()
})

test('changed options replace their line, and unchanged ones only change its quantity', async () => {
  const options = [{ optionId: '17', qty: 1, name: 'L', price: 0 }]
  kept.items = [item({ options })]
  const basket = await loaded()
  api.addDish.mockReset().mockResolvedValue({ id: '3', quantity: 2 })
  const [line = item()] = basket.items
  await basket.replace(line, 3, '1', options)
  expect(api.setQuantity.mock.lastCall, 'quantity').toEqual(['1', 3])
  await basket.replace(line, 2, '1', [])
  expect([api.addDish.mock.calls, api.removeDish.mock.calls], 'requests').toEqual([[['4', 2, '1', []]], [['1']]])
})

describe('a line whose replacement cannot be removed', () => {
  const options = [{ optionId: '17', qty: 1, name: 'L', price: 0 }]
  const quantities = (basket: ReturnType<typeof useBasket>) => basket.items.map((i) => [i.id, i.quantity])

  /** A cart with line 1 without options, and line 3 with the new options if it has a quantity. */
  async function opened(twin = 0) {
    kept.items = [item(), ...(twin ? [item({ id: '3', options, quantity: twin })] : [])]
    api.addDish.mockReset().mockImplementation((_: string, quantity: number) => {
      const line = kept.items.find((i) => i.id === '3') ?? item({ id: '3', options, quantity: 0 })
      kept.items = [...kept.items.filter((i) => i !== line), { ...line, quantity: line.quantity + quantity }]
      return Promise.resolve(kept.items.at(-1))
    })
    return loaded()
  }
  const busy = () => Promise.reject(new Fault('unavailable', 503))

  test.each([[0, [['1', 2]]], [4, [['1', 2], ['3', 4]]]])('is left with the addition undone, beside %i units with the new options', async (twin, left) => {
    const basket = await opened(twin)
    api.removeDish.mockImplementationOnce(busy)
    await expect(basket.replace(item(), 3, '1', options)).rejects.toMatchObject({ code: 'unavailable' })
    expect(quantities(basket)).toEqual(left)
    await basket.replace(item(), 3, '1', options)
    expect(quantities(basket), 'the next attempt').toEqual([['3', twin + 3]])
  })

  test('is replaced if only the answer was lost', async () => {
    const basket = await opened()
    api.removeDish.mockImplementationOnce((id: string) => {
      kept.items = kept.items.filter((i) => i.id !== id)
      return Promise.reject(new Fault('offline'))
    })
    await basket.replace(item(), 3, '1', options)
    expect(quantities(basket)).toEqual([['3', 3]])
  })

  test('is replaced once by the next attempt, which undoes the addition first', async () => {
    const basket = await opened()
    const remove = api.removeDish.getMockImplementation()
    api.removeDish.mockImplementation(busy)
    await expect(basket.replace(item(), 3, '1', options)).rejects.toMatchObject({ code: 'unavailable' })
    expect(quantities(basket), 'the actual cart').toEqual([['1', 2], ['3', 3]])
    await expect(basket.replace(item(), 3, '1', options), 'still too busy').rejects.toMatchObject({ code: 'unavailable' })
    expect(quantities(basket), 'not added again').toEqual([['1', 2], ['3', 3]])
    api.removeDish.mockImplementation(remove as () => Promise<never>)
    await basket.replace(item(), 3, '1', options)
    expect(quantities(basket)).toEqual([['3', 3]])
  })

  test('stays beside the addition if the member goes on with both', async () => {
    const basket = await opened()
    const remove = api.removeDish.getMockImplementation()
    api.removeDish.mockImplementation(busy)
    await expect(basket.replace(item(), 3, '1', options)).rejects.toMatchObject({ code: 'unavailable' })
    api.removeDish.mockImplementation(remove as () => Promise<never>)
    await basket.set('3', 5)
    await basket.replace(item(), 1, '1', [])
    expect(quantities(basket)).toEqual([['1', 1], ['3', 5]])
  })
})

test('a new login loads the new member’s cart', async () => {
  const basket = await loaded()
  useAccount().user = undefined
  await vi.waitFor(() => {
    expect(basket.basket).toBeUndefined()
  })
})
