import { beforeEach, expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { filled, localesFor, localized, missing } from './localized'

beforeEach(() => changeLanguage('zh-Hant'))

test.each([
  ['its own language', { vi: 'Phở', en: 'Pho', 'zh-TW': '河粉' }, '河粉'],
  ['English where it is missing', { vi: 'Phở', en: 'Pho' }, 'Pho'],
  ['English where it is empty', { 'zh-TW': '', en: 'Pho' }, 'Pho'],
  ['any other, always the same', { vi: 'Phở', th: 'เฝอ' }, 'เฝอ'],
  ['nothing', {}, ''],
])('a text is shown in %s', (_, texts, want) => {
  expect(localized(texts as Record<string, string>)).toBe(want)
})

test('a form has the languages of all branches and those of the existing texts', () => {
  const branches = [{ locales: ['vi', 'en'] }, { locales: ['zh-TW', 'en'] }, { locales: null }]
  expect(localesFor(branches, { ja: 'フォー' })).toEqual(['vi', 'zh-TW', 'en', 'ja'])
})

test('blanks count as no text', () => {
  expect(filled({ vi: ' Phở ', en: '  ', ja: '' })).toEqual({ vi: 'Phở' })
})

test('a text is missing in the languages of the branch', () => {
  expect(missing({ vi: 'Phở', en: '' }, { locales: ['th', 'vi', 'en'] })).toEqual(['English', 'ไทย'])
  expect(missing({ vi: 'Phở' }, { locales: ['vi'] })).toEqual([])
  expect(missing({ vi: 'Phở' }, { locales: null })).toEqual([])
  expect(missing({ vi: 'Phở' }, undefined)).toEqual([])
})
