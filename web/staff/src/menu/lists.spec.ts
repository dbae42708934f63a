import { expect, test } from 'vitest'

import { copiedMenus, firstMenu } from './lists'

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
