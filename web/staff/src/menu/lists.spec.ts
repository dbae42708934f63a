import { expect, test } from 'vitest'

import { branchesOf, categoryTitles, copiedMenus, firstMenu } from './lists'
import type { Category } from './menuEditor'

const menu = (id: string, publishedVersionId: string | null) => ({ id, publishedVersionId })

test('an import takes the oldest published menu, else the oldest one', () => {
  expect(firstMenu([menu('10', '7'), menu('9', null), menu('11', '3')])?.id).toBe('10')
  expect(firstMenu([menu('10', null), menu('9', null)])?.id).toBe('9')
  expect(firstMenu([])).toBeUndefined()
})

test('a copy of a branch gets its published menus, else the oldest one as a draft', () => {
  const ids = (menus: { id: string }[]) => menus.map((m) => m.id)
  expect(ids(copiedMenus([menu('9', null), menu('10', '7'), menu('11', '3')]))).toEqual(['10', '11'])
  expect(ids(copiedMenus([menu('10', null), menu('9', null)]))).toEqual(['9'])
  expect(copiedMenus([])).toEqual([])
})

test('branches tell categories of the same name apart', () => {
  const category = (id: string, en: string, branchIds?: string[]): Category =>
    ({ id, names: { en }, sort: 1, descriptions: {}, dishes: 1, updatedAt: '', ...(branchIds ? { branchIds } : {}) })
  const all = [category('1', 'Pho', ['1']), category('2', 'Desserts', ['1', '2']), category('3', 'Desserts', ['3', '9']), category('4', 'Desserts')]
  const branches = [{ id: '1', name: 'Hà Nội' }, { id: '2', name: 'Huế' }, { id: '3', name: 'Berlin' }]
  expect([...categoryTitles(all, branches).values()]).toEqual(['Pho', 'Desserts · Hà Nội, Huế', 'Desserts · Berlin', 'Desserts'])
  expect(all.map((c) => branchesOf(c, branches))).toEqual([['Hà Nội'], ['Hà Nội', 'Huế'], ['Berlin'], []])
})
