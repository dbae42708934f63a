import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, test, vi } from 'vitest'
import { nextTick } from 'vue'

import { Fault } from '@shared/api/fault'

import type { TableCart } from '../api/dto'
import { useMenu } from '../menu/menu'
import { readCurrent } from '../table/draft'
import { useSession } from '../table/session'
import { useCart } from './cart'
import { byGuest } from './line'

const { api } = vi.hoisted(() => ({
  api: { activeMenu: vi.fn(), tableCart: vi.fn(), putTableLine: vi.fn(), removeTableLine: vi.fn() },
}))
vi.mock('../api/public', () => ({ ...api, guestHeaders: () => ({}), land: () => Promise.resolve({}), useToken: () => undefined }))

const dish = (itemId: string, remaining: number | null = null) => ({
  itemId, dishId: itemId, name: `dish ${itemId}`, description: '', imageUrl: null, price: 100, isActive: true, isSoldOut: false, remaining,
})
const plain = (itemId: string, qty: number, notes = '') => ({ itemId, qty, notes, name: `dish ${itemId}`, price: 100 })
type Line = TableCart['lines'][number]
const line = (id: string, phone: number, mine: boolean, itemId = '1', qty = 1, notes = ''): Line => ({ id, phone, mine, itemId, name: `dish ${itemId}`, qty, notes })

/** A fake server: a cart that the mocked requests read and change. */
let server: TableCart
const answer = () => Promise.resolve(structuredClone(server))
const put = (_: string, id: string, body: { itemId: string; qty: number; notes: string }) => {
  const at = server.lines.find((l) => l.id === id)
  if (at) Object.assign(at, body)
  else server.lines.push(line(id, 1, true, body.itemId, body.qty, body.notes))
  server.version++
  return answer()
}

async function open(cartDraft = [] as ReturnType<typeof plain>[], sharedCart = true) {
  const branch = { id: '1', name: 'x', currency: 'VND', timezone: 'UTC', locales: [], sharedCart }
  useSession().draft = {
    schemaVersion: 1, visitToken: 't', visitId: 'v', branch, table: { id: '1', label: 'A1' }, menuVersion: '5', cartDraft,
    clientTxnId: 'first',
  }
  await useMenu().load('1', '1')
  const cart = useCart()
  await vi.waitFor(async () => { expect(await cart.settle()).toBe(true) })
  return cart
}

const shownLines = (cart: ReturnType<typeof useCart>) => cart.shown.map((l) => `${l.mine ? 'my' : String(l.phone)} ${l.itemId}×${String(l.qty)}${l.notes}`)

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
  server = { version: 3, lines: [line('binh-1', 2, false, '2')] }
  api.activeMenu.mockReset().mockResolvedValue({
    menuVersionId: '5', bizDate: '', currency: 'VND', categories: [{ id: '1', name: 'all', items: [dish('1'), dish('2', 2)] }],
  })
  api.tableCart.mockReset().mockImplementation(answer)
  api.putTableLine.mockReset().mockImplementation(put)
  api.removeTableLine.mockReset().mockImplementation((_: string, id: string) => {
    server = { version: server.version + 1, lines: server.lines.filter((l) => l.id !== id) }
    return answer()
  })
})

test('a phone shows the lines of all phones and adds to its own', async () => {
  const cart = await open()
  cart.add(plain('1', 1))
  cart.add(plain('1', 2))
  cart.add(plain('2', 1))
  expect(shownLines(cart)).toEqual(['2 2×1', 'my 1×3', 'my 2×1']) // before the server answers
  expect(await cart.settle()).toBe(true)
  expect(shownLines(cart)).toEqual(['2 2×1', 'my 1×3', 'my 2×1'])
  expect(server.lines.map((l) => l.qty)).toEqual([1, 3, 1])
  expect([cart.count, cart.total, cart.mine.length]).toEqual([5, 500, 2])
  cart.less('2') // removes from its own line, not the other guest's
  await cart.settle()
  expect(shownLines(cart)).toEqual(['2 2×1', 'my 1×3'])
  expect(byGuest(cart.shown).map((g) => [g.mine, g.phone, g.lines.length])).toEqual([[true, 0, 1], [false, 2, 1]])
})

test('a guest changes and removes another guest’s line', async () => {
  const cart = await open()
  cart.change('binh-1', 2)
  cart.note('binh-1', 'hot')
  await cart.settle()
  expect(shownLines(cart)).toEqual(['2 2×2hot'])
  cart.change('binh-1', 0)
  await cart.settle()
  expect([shownLines(cart), server.lines]).toEqual([[], []])
})

test('an unsent change is stored, shown and resent with the same id', async () => {
  const cart = await open()
  api.putTableLine.mockRejectedValue(new Fault('offline'))
  cart.add(plain('1', 1))
  expect(await cart.settle()).toBe(false)
  expect(shownLines(cart)).toEqual(['2 2×1', 'my 1×1'])
  const kept = useSession().draft?.cartDraft ?? []
  expect(kept).toHaveLength(1)

  setActivePinia(createPinia()) // the page is loaded again
  api.putTableLine.mockReset().mockImplementation(put)
  const again = await open(kept as ReturnType<typeof plain>[])
  expect(shownLines(again)).toEqual(['2 2×1', 'my 1×1'])
  expect(server.lines.at(-1)?.id).toBe(kept[0]?.id)
  expect(useSession().draft?.cartDraft).toEqual([])
})

test('an unsent removal is stored, and the line stays removed after a reload', async () => {
  const cart = await open()
  api.removeTableLine.mockRejectedValue(new Fault('offline'))
  cart.change('binh-1', 0)
  expect(await cart.settle()).toBe(false)
  expect(shownLines(cart)).toEqual([])
  const kept = readCurrent()?.cartDraft ?? []
  expect(kept).toMatchObject([{ id: 'binh-1', qty: 0 }])

  setActivePinia(createPinia()) // the page is loaded again
  await useMenu().load('1', '1')
  useSession().resume()
  const again = useCart()
  await again.reload()
  expect(shownLines(again), 'before the server has accepted it').toEqual([])
  api.removeTableLine.mockReset().mockImplementation((_: string, id: string) => {
    server = { version: server.version + 1, lines: server.lines.filter((l) => l.id !== id) }
    return answer()
  })
  await vi.waitFor(async () => { expect(await again.settle()).toBe(true) })
  expect([server.lines, useSession().draft?.cartDraft]).toEqual([[], []])
})

test('an unsent removal is no line of the phone’s own cart when the branch shares none any more', () => {
  const removal = { ...plain('1', 0), id: 'binh-1' }
  const branch = { id: '1', name: 'x', currency: 'VND', timezone: 'UTC', locales: [], sharedCart: false }
  useSession().draft = {
    schemaVersion: 1, visitToken: 't', visitId: 'v', branch, table: { id: '1', label: 'A1' }, menuVersion: '5',
    cartDraft: [removal, plain('2', 1)], clientTxnId: 'first',
  }
  expect(useCart().lines).toEqual([plain('2', 1)])
})

test('a change of a removed line is dropped', async () => {
  const cart = await open()
  server = { version: 4, lines: [] }
  api.putTableLine.mockRejectedValue(new Fault('cart_changed', 409))
  cart.change('binh-1', 2)
  expect(await cart.settle()).toBe(true)
  expect([shownLines(cart), cart.trouble]).toEqual([[], 'cart.changedMeanwhile'])
})

test('the guest chooses between all dishes and their own', async () => {
  server.lines = [line('binh-1', 2, false, '2', 2), line('an-1', 1, true, '2', 1)]
  const cart = await open()
  expect([cart.divided, cart.due, cart.obstacle?.id]).toEqual([true, 200, 'an-1']) // two are left
  cart.scope = 'mine'
  expect([cart.due, cart.obstacle, cart.ordered.map((l) => l.id)]).toEqual([100, undefined, ['an-1']])
  expect([cart.total, cart.count]).toEqual([300, 3]) // one of the other guest's two is left
  server = { version: 4, lines: [line('an-1', 1, true, '2', 1)] }
  await cart.reload()
  expect([cart.divided, cart.due]).toEqual([false, 100])
})

test('a line that another guest has removed cannot be changed', async () => {
  server = { version: 1, lines: [line('a', 1, true), line('b', 2, false, '2')] }
  const cart = await open()
  expect(cart.replace('a', plain('1', 2, 'hot'))).toBe(true)
  await cart.settle()
  server = { version: server.version + 1, lines: server.lines.filter((l) => l.id !== 'a') }
  await cart.reload()
  expect(cart.replace('a', plain('1', 3, 'hot'))).toBe(false)
  expect(shownLines(cart)).toEqual(['2 2×1'])
})

test('a late answer does not replace a newer one', async () => {
  const cart = await open()
  const late = Promise.resolve(structuredClone(server))
  server = { version: 9, lines: [] }
  await cart.reload()
  api.tableCart.mockReturnValueOnce(late)
  await cart.reload()
  expect(shownLines(cart)).toEqual([])
})

test('a cart keeps its lines when it becomes shared and when it becomes the phone’s own again', async () => {
  const cart = await open([plain('1', 2)], false)
  expect(api.tableCart).not.toHaveBeenCalled()
  useSession().share(true)
  await nextTick()
  await cart.settle()
  await vi.waitFor(() => { expect(shownLines(cart)).toEqual(['2 2×1', 'my 1×2']) })
  useSession().share(false)
  await nextTick()
  expect(cart.lines).toEqual([plain('1', 2)])
  cart.add(plain('1', 1))
  expect(cart.lines).toEqual([plain('1', 3)])
})

test('the lines that this phone added are kept for the next table', async () => {
  const cart = await open()
  cart.add(plain('1', 2))
  await cart.settle()
  expect(useSession().draft?.own).toEqual([plain('1', 2)])
  server = { version: 9, lines: [line('binh-1', 2, false, '2')] } // it was ordered
  await cart.reload()
  expect(useSession().draft?.own).toEqual([])
})

test.each([
  ['cart_full', 'cart.full'], ['cart_lines_exhausted', 'cart.askStaff'], ['dish_not_found', 'cart.unlisted'],
  ['cart_changed', 'cart.changedMeanwhile'],
])('the text of %s is %s', async (code, text) => {
  const cart = await open()
  api.putTableLine.mockRejectedValueOnce(new Fault(code, 409))
  cart.add(plain('1', 1))
  await cart.settle()
  expect(cart.trouble).toBe(text)
  expect(shownLines(cart)).toEqual(['2 2×1'])
})
