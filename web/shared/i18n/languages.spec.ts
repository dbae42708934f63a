import { expect, test } from 'vitest'

import { acceptLanguage } from './languages'

test('a language that a menu lacks falls back to English', () => {
  expect(acceptLanguage('en')).toBe('en')
  expect(acceptLanguage('vi')).toBe('vi, en;q=0.5')
  expect(acceptLanguage('zh-Hant')).toBe('zh-TW, en;q=0.5')
})
