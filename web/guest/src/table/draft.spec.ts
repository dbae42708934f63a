import { beforeEach, expect, test } from 'vitest'

import { forgetDrafts, parseDraft, readCurrent, writeDraft, type Draft } from './draft'

const line = { itemId: '11', qty: 2, notes: '', name: 'Phở bò', price: 65000 }
const draft: Draft = {
  schemaVersion: 1,
  visitToken: 'secret',
  visitId: 'v1',
  branch: { id: '1', name: 'Hà Nội', currency: 'VND', timezone: 'Asia/Ho_Chi_Minh', locales: ['vi'], sharedCart: false },
  table: { id: '3', label: 'A3' },
  menuVersion: '5',
  cartDraft: [line],
  clientTxnId: 'c-1',
}

beforeEach(() => {
  localStorage.clear()
})

test('a draft is read as it was written', () => {
  writeDraft(draft)
  expect(readCurrent()).toEqual(draft)
})

test('the newest visit is the phone’s own, and older ones are removed', () => {
  writeDraft(draft)
  writeDraft({ ...draft, visitId: 'v2' })
  forgetDrafts('v2')
  expect(readCurrent()?.visitId).toBe('v2')
  expect(Object.keys(localStorage).sort()).toEqual(['comanda.visit', 'comanda.visit.v2'])
})

test('all keys of the app can be removed, and no others', () => {
  writeDraft(draft)
  localStorage.setItem('other', '1')
  forgetDrafts()
  expect(Object.keys(localStorage)).toEqual(['other'])
})

const without = (name: keyof Draft) => JSON.stringify({ ...draft, [name]: undefined })

test.each([
  ['nothing', null],
  ['no JSON', '{"schemaVersion":1,'],
  ['null', 'null'],
  ['a list', '[]'],
  ['a number', '7'],
  ['another release', JSON.stringify({ ...draft, schemaVersion: 2 })],
  ['no token', without('visitToken')],
  ['no branch', without('branch')],
  ['half a branch', JSON.stringify({ ...draft, branch: { id: '1' } })],
  ['no cart', without('cartDraft')],
])('%s is no draft', (_, text) => {
  expect(parseDraft(text)).toBeUndefined()
})

test('broken lines of a cart are left out', () => {
  const broken = [null, 7, { ...line, qty: 0 }, { ...line, qty: 1.5 }, { ...line, qty: 21 }, { ...line, price: '9' }]
  expect(parseDraft(JSON.stringify({ ...draft, cartDraft: [...broken, line] }))?.cartDraft).toEqual([line])
})

test('an unsent removal of a line of a shared cart is read, but is none of the phone’s own lines', () => {
  const removal = { ...line, qty: 0, id: 'line-1' }
  const read = parseDraft(JSON.stringify({ ...draft, cartDraft: [removal, { ...removal, qty: -1 }], own: [removal, line] }))
  expect([read?.cartDraft, read?.own]).toEqual([[removal], [line]])
})

test('a cart’s options are read as they were written, and broken ones are left out with their line', () => {
  const option = { optionId: '17', qty: 1, name: 'L', price: 10_000 }
  const whole = { ...line, options: [{ ...option, options: [option] }] }
  const broken = [7, [null], [{ ...option, qty: 0 }], [{ ...option, price: '1' }], [{ ...option, options: [{}] }]].map((options) => ({ ...line, options }))
  expect(parseDraft(JSON.stringify({ ...draft, cartDraft: [...broken, whole] }))?.cartDraft, 'lines').toEqual([whole])
})
