import { expect, test } from 'vitest'

import { changedTexts } from './dishChanges'

const was = { categoryId: '3', names: { vi: 'Phở bò', en: 'Beef pho' }, descriptions: { vi: 'Có hành' } }

test('only what was changed in the form is sent', () => {
  expect(changedTexts({ ...was }, was)).toEqual({})
  expect(changedTexts({ ...was, names: { en: ' Beef pho ', vi: 'Phở bò', 'zh-TW': '' } }, was), 'another order and blanks').toEqual({})
  expect(changedTexts({ ...was, categoryId: '4' }, was)).toEqual({ categoryId: '4' })
  expect(changedTexts({ ...was, names: { ...was.names, en: 'Pho' } }, was)).toEqual({ names: { vi: 'Phở bò', en: 'Pho' } })
  expect(changedTexts({ ...was, descriptions: { vi: '' } }, was), 'a removed description').toEqual({ descriptions: {} })
})
