import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, test, vi } from 'vitest'

import type { Option, OptionGroup } from '@shared/options'

import type { Menu, MenuItem } from '../api/dto'
import { useMenu } from '../menu/menu'
import type { Draft } from '../table/draft'
import { useSession } from '../table/session'
import { useCart } from './cart'
import type { CartLine } from './line'

const { answers } = vi.hoisted(() => ({ answers: { menu: undefined as unknown } }))
vi.mock('../api/public', () => ({
  activeMenu: () => Promise.resolve(answers.menu),
  guestHeaders: () => ({}),
  land: () => Promise.resolve({}),
  useToken: () => undefined,
}))

const dish = (itemId: string, change: Partial<MenuItem> = {}): MenuItem => ({
  itemId, dishId: itemId, name: `dish ${itemId}`, description: '', imageUrl: null, price: 100, isActive: true, isSoldOut: false,
  remaining: null, ...change,
})
const line = (itemId: string, qty: number, notes = ''): CartLine => ({ itemId, qty, notes, name: `old ${itemId}`, price: 100 })

/** Serves this menu and returns a cart with these lines. */
async function cartOf(items: MenuItem[], lines: CartLine[]) {
  const menu = { menuVersionId: '5', bizDate: '', currency: 'VND', categories: [{ id: '1', name: 'all', items }] } as Partial<Menu>
  answers.menu = menu
  await useMenu().load('1', '1')
  const cart = useCart()
  for (const l of lines) cart.add(l)
  return cart
}

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
  const branch = { id: '1', name: 'x', currency: 'VND', timezone: 'UTC', locales: [], sharedCart: false }
  const draft: Draft = {
    schemaVersion: 1, visitToken: 't', visitId: 'v', branch, table: { id: '1', label: 'A1' }, menuVersion: '5', cartDraft: [],
    clientTxnId: 'first',
  }
  useSession().draft = draft
})

test('equal dishes share a line unless their notes differ', async () => {
  const cart = await cartOf([dish('1')], [line('1', 1), line('1', 2), line('1', 1, 'hot')])
  expect(cart.lines.map((l) => [l.qty, l.notes])).toEqual([[3, ''], [1, 'hot']])
  expect(cart.total).toBe(400)
})

test('a sold-out line stays, is not charged and blocks the order', async () => {
  const cart = await cartOf([dish('1'), dish('2', { isSoldOut: true, remaining: 0 })], [line('1', 1), line('2', 1)])
  expect(cart.lines).toHaveLength(2)
  expect(cart.total).toBe(100)
  expect([cart.count, cart.empty]).toEqual([1, false])
  expect(cart.obstacle?.itemId).toBe('2')
  cart.change('1 ', 0)
  expect([cart.count, cart.empty]).toEqual([0, false]) // the remaining line can be removed
})

test('lines that become equal by a changed note are merged', async () => {
  const cart = await cartOf([dish('1')], [line('1', 1, 'hot'), line('1', 15), line('1', 2, 'mild')])
  cart.note('1 hot', 'very hot')
  expect(cart.lines.map((l) => [l.qty, l.notes])).toEqual([[1, 'very hot'], [15, ''], [2, 'mild']])
  cart.note('1 mild', '')
  expect(cart.lines.map((l) => [l.qty, l.notes])).toEqual([[1, 'very hot'], [17, '']])
  cart.note('1 very hot', 'very hot')
  cart.note('1 nothing', 'x')
  expect(cart.lines).toHaveLength(2)
})

test('lines of one dish share its remaining units', async () => {
  const cart = await cartOf([dish('1', { remaining: 3 })], [line('1', 2), line('1', 2, 'hot')])
  expect(cart.shown.map((l) => l.available)).toEqual([3, 1])
  expect(cart.obstacle?.notes).toBe('hot')
  cart.change('1 hot', 1)
  expect(cart.obstacle).toBeUndefined()
})

test('a new menu removes dishes that it does not have, and reports them', async () => {
  const cart = await cartOf([dish('1', { price: 120 })], [line('1', 1), line('9', 1)])
  expect(cart.repriced).toBe(true)
  cart.adopt()
  expect(cart.vanished).toEqual(['old 9'])
  expect(cart.lines).toEqual([{ itemId: '1', qty: 1, notes: '', name: 'dish 1', price: 120 }])
  expect(cart.repriced).toBe(false)
})

test('no line exceeds the server’s limits', async () => {
  const cart = await cartOf([dish('1')], [line('1', 15), line('1', 15)])
  expect(cart.lines[0]?.qty).toBe(20)
})

test('after an order the cart is empty and has a new id', async () => {
  const cart = await cartOf([dish('1')], [line('1', 1)])
  cart.clear()
  expect(cart.count).toBe(0)
  expect(useSession().draft?.clientTxnId).not.toBe('first')
})

test('the cart survives a reload', async () => {
  const cart = await cartOf([dish('1')], [line('1', 2, 'hot')])
  const before = cart.lines
  setActivePinia(createPinia())
  useSession().resume()
  expect(useCart().lines).toEqual(before)
})

test('a piece is removed from the line without a note first', async () => {
  const cart = await cartOf([dish('1')], [line('1', 1, 'hot'), line('1', 1), line('1', 1, 'cold')])
  cart.less('1')
  expect(cart.lines.map((l) => l.notes)).toEqual(['hot', 'cold'])
  cart.less('1')
  expect(cart.lines.map((l) => l.notes)).toEqual(['hot'])
  cart.less('1')
  cart.less('1')
  expect(cart.empty).toBe(true)
})

const option = (id: string, price: number, change: Partial<Option> = {}): Option => ({
  id, name: `option ${id}`, price, isDefault: false, isAvailable: true, ...change,
})
const sizes = (change: Partial<OptionGroup> = {}, ...options: Option[]): OptionGroup => ({
  id: '1', kind: 'SIZE', name: 'Size', min: 1, max: 1, free: 0, maxEach: 1, credit: false, defaultsCharge: true,
  options: options.length ? options : [option('1', 120), option('2', 150)], ...change,
})
const tea = (change: Partial<OptionGroup> = {}, ...options: Option[]) => dish('1', { groups: [sizes(change, ...options)] })
const sized = (optionId: string, qty: number, notes = ''): CartLine => ({
  ...line('1', qty, notes), price: 120, options: [{ optionId, qty: 1, name: `old ${optionId}`, price: 120 }],
})

test('a dish has a line for each choice of options, with its own price', async () => {
  const cart = await cartOf([tea()], [sized('1', 1), sized('2', 1), sized('1', 2)])
  expect(cart.shown.map((l) => [l.options?.[0]?.name, l.qty, l.price]), 'lines').toEqual([['option 1', 3, 120], ['option 2', 1, 150]])
  expect([cart.total, cart.obstacle], 'total and obstacle').toEqual([510, undefined])
  cart.less('1')
  expect(cart.lines.map((l) => l.qty), 'quantities after one less').toEqual([3])
})

test.each<[string, MenuItem, unknown, string[]]>([
  ['gone', tea({}, option('2', 150)), { code: 'gone', names: ['old 1'] }, ['2']],
  ['sold out', tea({}, option('1', 120, { isAvailable: false }), option('2', 150)), { code: 'soldOut', names: ['option 1'] }, ['2']],
  ['too few', tea({ min: 2, max: 2 }), { code: 'changed', names: ['Size'] }, ['1', '2']],
])('a line whose options are %s has to be chosen again', async (_, item, want, better) => {
  const cart = await cartOf([item], [sized('1', 1)])
  expect(cart.obstacle?.problem, 'problem of the line').toEqual(want)
  cart.replace(cart.shown[0]?.key ?? '', { ...line('1', 1), options: better.flatMap((id) => sized(id, 1).options ?? []) })
  expect(cart.obstacle, 'obstacle after a new choice').toBeUndefined()
})

test('changed options are merged with an equal line', async () => {
  const cart = await cartOf([tea()], [sized('1', 1), sized('2', 4)])
  cart.replace(cart.shown[0]?.key ?? '', sized('2', 2))
  expect(cart.lines.map((l) => [l.options?.[0]?.optionId, l.qty]), 'lines').toEqual([['2', 6]])
})

test('a new menu changes the price of the chosen options', async () => {
  const cart = await cartOf([tea({}, option('1', 130))], [sized('1', 2)])
  expect(cart.repriced, 'repriced').toBe(true)
  cart.adopt()
  expect([cart.lines[0]?.price, cart.lines[0]?.options?.[0]?.price, cart.repriced], 'adopted').toEqual([130, 130, false])
})

test('options that only the server refuses are marked until they are chosen again', async () => {
  const cart = await cartOf([tea()], [sized('1', 1), sized('2', 1)])
  cart.refuse([{ itemId: '1', optionId: '2' }])
  expect(cart.shown.map((l) => l.problem?.code), 'problems').toEqual([undefined, 'changed'])
  cart.replace(cart.shown[1]?.key ?? '', sized('2', 1))
  expect(cart.obstacle, 'obstacle after a new choice').toBeUndefined()
})

test('the options of an earlier order are checked against the current menu', async () => {
  const cart = await cartOf([tea({}, option('2', 150))], [])
  const options = [{ optionId: '1', qty: 1, name: 'S', price: 100 }]
  cart.restore([{ itemId: '1', dishId: '1', qty: 1, notes: '', name: 'tea', price: 100, amount: 100, options }])
  expect(cart.shown.map((l) => [l.options?.[0]?.name, l.problem?.code]), 'restored line').toEqual([['S', 'gone']])
})
