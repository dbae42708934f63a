import { beforeEach, expect, test } from 'vitest'

import type { Account, ListedOrder } from './dto'
import { pathAfter } from './paths'
import { forgetTxn, nextTxn, receiverFields, receiverOf } from './receiver'

const lan = { firstName: 'Lan', surname: 'Nguyễn', phone: '0901234567', address: '12 Hàng Bài', city: 'Hoàn Kiếm', province: 'Hà Nội', email: 'lan@house.example' }
const before = { receiver: { name: 'Mai', phone: '0907654321', address: '1 Lê Lợi', email: 'mai@house.example', note: 'I wait downstairs' } } as ListedOrder
const account = (change: object) => change as Account

beforeEach(() => {
  sessionStorage.clear()
})

test('the account takes precedence over the last order', () => {
  expect(receiverOf(account(lan), before)).toEqual({
    name: 'Lan Nguyễn', phone: '0901234567', address: '12 Hàng Bài, Hoàn Kiếm, Hà Nội', email: 'lan@house.example', note: '',
  })
})

test('the last order fills the fields that the account leaves empty', () => {
  const silent = account({ firstName: null, surname: null, phone: null, address: null, city: 'Hà Nội', province: null, email: 'lan@house.example' })
  expect(receiverOf(silent, before)).toEqual({ name: 'Mai', phone: '0907654321', address: '1 Lê Lợi', email: 'lan@house.example', note: '' })
  expect(receiverOf(silent, undefined)).toEqual({ name: '', phone: '', address: '', email: 'lan@house.example', note: '' })
})

test('only a delivery has a note, and an empty note is left out', () => {
  const to = { name: ' Lan ', phone: '0901234567', address: '12 Hàng Bài ', email: '', note: ' Gate 4711\nthird floor\n' }
  const sent = { kind: 'DELIVERY', receiverName: 'Lan', receiverPhone: '0901234567', receiverAddress: '12 Hàng Bài' }
  expect(receiverFields(to, 'DELIVERY')).toEqual({ ...sent, receiverNote: 'Gate 4711\nthird floor' })
  expect(receiverFields({ ...to, note: ' \n' }, 'DELIVERY')).toEqual(sent)
  expect(receiverFields({ ...to, email: 'lan@house.example' }, 'PICKUP')).toEqual({
    kind: 'PICKUP', receiverName: 'Lan', receiverPhone: '0901234567', receiverEmail: 'lan@house.example',
  })
})

test('an order keeps its id over reloads; another member or order has another id', () => {
  const first = nextTxn('7', '70')
  expect(nextTxn('7', '70')).toBe(first)
  expect(nextTxn('8', '80')).not.toBe(first)
  const next = nextTxn('7', '70')
  forgetTxn(first) // of an order before
  expect(nextTxn('7', '70')).toBe(next)
  forgetTxn(next)
  expect(nextTxn('7', '70')).not.toBe(next)
})

test('after an order whose answer was lost, the next cart has another id', () => {
  const lost = nextTxn('7', '70')
  const next = nextTxn('7', '71')
  expect(next).not.toBe(lost)
  expect(nextTxn('7', '71')).toBe(next)
})

test.each([
  ['/shop/cart', '/shop/cart'],
  ['/shop/dish/4', '/shop/dish/4'],
  ['/shop', '/shop'],
  ['//evil.example', '/shop'],
  ['https://evil.example/shop', '/shop'],
  ['/shop/../app', '/shop'],
  ['/shopping', '/shop'],
  ['/console', '/shop'],
  [undefined, '/shop'],
  [['/shop/cart'], '/shop'],
])('after a login %j leads to %s', (to, want) => {
  expect(pathAfter(to)).toBe(want)
})
