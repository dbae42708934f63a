import { expect, test } from 'vitest'

import type { Category, Line } from './menuEditor'
import { cellsOf, Sheet } from './sheet'

const line = (dishId: string, en: string, price: number, more: Partial<Line> = {}): Line => ({
  dishId, itemId: `1${dishId}`, categoryId: '1', categoryNames: { en: 'Pho', vi: 'Phở' }, names: { en, vi: `${en} vi`, ja: 'フォー' }, imageUrl: null,
  price, dailyQuota: null, isActive: true, groups: [], sort: 1, ...more,
})
const category = (id: string, en: string, vi: string): Category =>
  ({ id, names: { en, vi }, sort: 1, descriptions: {}, dishes: 1, updatedAt: '' })

const ids = ['1', '2', '3']
function sheet(lines = [line('1', 'Beef', 65_000), line('2', 'Chicken', 60_000, { dailyQuota: 5 }), line('3', 'Egg', 30_000)]) {
  return new Sheet(lines, [category('1', 'Pho', 'Phở'), category('2', 'Drinks', 'Đồ uống')], ['vi', 'en'], 'VND', (n) => n.en ?? '')
}

test('cells show the draft, and edited ones are marked', () => {
  const s = sheet()
  expect(s.columns).toEqual(['name:vi', 'name:en', 'category', 'price', 'quota'])
  expect(s.columns.map((c) => s.text('2', c))).toEqual(['Chicken vi', 'Chicken', 'Pho', '60000', '5'])
  s.type('2', 'price', '62k')
  expect([s.text('2', 'price'), s.changed('2', 'price'), s.changed('1', 'price'), s.changes]).toEqual(['62k', true, false, 1])
})

test('typing into one cell is one undo step', () => {
  const s = sheet()
  for (const text of ['6', '66', '66k']) s.type('1', 'price', text)
  s.endStep()
  s.type('1', 'price', '67k')
  expect(s.undo()).toMatchObject({ dishId: '1', column: 'price' })
  expect(s.text('1', 'price')).toBe('66k')
  s.undo()
  expect([s.text('1', 'price'), s.changes, s.canUndo]).toEqual(['65000', 0, false])
  expect(s.undo()).toBeUndefined()
  s.redo()
  s.redo()
  expect([s.text('1', 'price'), s.canRedo]).toEqual(['67k', false])
  s.undo()
  s.type('2', 'price', '1k') // a new step clears the redo list
  expect(s.canRedo).toBe(false)
  s.discard()
  expect([s.changes, s.canUndo, s.text('2', 'price')]).toEqual([0, false, '60000'])
})

test('typing the old value again is no undo step', () => {
  const s = sheet()
  s.type('1', 'price', '6500')
  s.type('1', 'price', '65000')
  expect([s.canUndo, s.changes]).toEqual([false, 0])
})

test('a pasted column is one undo step, and cells beyond the grid are dropped', () => {
  const s = sheet()
  expect(s.paste(ids, '2', 'price', cellsOf('61k\t9\tmore\n31k\n99k\n'))).toBe(3)
  expect([s.text('2', 'price'), s.text('2', 'quota'), s.text('3', 'price')]).toEqual(['61k', '9', '31k'])
  s.undo()
  expect(s.changes).toBe(0)
})

test.each([
  ['a\tb\r\nc\td\r\n', [['a', 'b'], ['c', 'd']]],
  ['65.000', [['65.000']]],
  ['"two\nlines"\t"a ""b"""\nx', [['two lines', 'a "b"'], ['x']]],
  ['a\n\nb', [['a'], [''], ['b']]],
  ['\t', [['', '']]],
  ['12" pizza', [['12" pizza']]],
  ['', [['']]],
])('the clipboard %j is %j', (clipboard, want) => {
  expect(cellsOf(clipboard)).toEqual(want)
})

test.each([
  ['price', 'abc', 'price_unreadable'], ['price', '', 'price_missing'], ['price', '65.00', 'price_ambiguous'], ['price', '65.500', ''],
  ['quota', '1.5', 'quota_unreadable'], ['quota', '', ''], ['category', 'đồ uống', ''], ['category', 'Soup', 'category_unknown'],
  ['category', '', 'category_missing'], ['name:vi', '', ''], ['name:en', 'x'.repeat(121), 'cell_too_long'],
] as const)('%s %j: %s', (column, text, want) => {
  const s = sheet()
  s.type('2', column, text)
  expect([s.problem('2', column), s.problems]).toEqual([want, want ? 1 : 0])
})

test('a dish must have a name', () => {
  const s = new Sheet([line('1', 'Beef', 1, { names: { en: 'Beef' } })], [], ['en'], 'VND', () => '')
  s.type('1', 'name:en', ' ')
  expect(s.problem('1', 'name:en')).toBe('name_missing')
})

test('only changed rows are sent, with the values that were read', () => {
  const s = sheet()
  s.type('2', 'price', '62k')
  s.type('2', 'quota', '')
  s.type('3', 'name:vi', 'Trứng')
  s.type('3', 'category', 'Drinks')
  s.type('1', 'price', '65k')
  s.type('1', 'price', '65000')
  expect(s.rows()).toEqual([
    { dishId: '2', price: 62_000, dailyQuota: null, before: { categoryId: '1', names: line('2', 'Chicken', 0).names, price: 60_000, dailyQuota: 5 } },
    {
      dishId: '3', price: 30_000, dailyQuota: null, categoryId: '2', names: { en: 'Egg', vi: 'Trứng', ja: 'フォー' },
      before: { categoryId: '1', names: line('3', 'Egg', 0).names, price: 30_000, dailyQuota: null },
    },
  ])
})

test('after another manager has saved, edits stay and are compared with the new values', () => {
  const s = sheet()
  s.type('1', 'price', '70k')
  s.type('3', 'price', '31k')
  s.rebase([line('1', 'Beef', 68_000), line('2', 'Chicken', 60_000)]) // the third dish was removed
  expect([s.text('1', 'price'), s.changes]).toEqual(['70k', 1])
  expect(s.rows()[0]?.before?.price).toBe(68_000)
  expect(s.canUndo).toBe(false) // undo would restore a price that another user has replaced
  expect(s.text('3', 'price')).toBe('')
})

test('of categories with equal names, the one of this menu is meant', () => {
  const lines = [line('1', 'Beef', 65_000), line('2', 'Flan', 30_000, { categoryId: '9', categoryNames: { en: 'Desserts' } })]
  const all = [category('1', 'Pho', 'Phở'), category('4', 'Desserts', 'Chè'), category('9', 'Desserts', 'Chè')]
  const s = new Sheet(lines, all, ['vi', 'en'], 'VND', (n) => n.en ?? '')
  s.type('1', 'category', 'desserts')
  expect(s.rows().map((r) => [r.dishId, r.categoryId])).toEqual([['1', '9']])
})
