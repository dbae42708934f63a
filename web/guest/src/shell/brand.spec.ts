import { expect, test } from 'vitest'

import { setLanguage } from '@shared/i18n'

import { brandText, restaurantName } from './brand'

test('a text is in the guest’s language, else in English, else in any', async () => {
  await setLanguage('zh-Hant')
  expect(brandText({ 'zh-TW': '您好', en: 'Hello' })).toBe('您好')
  expect(brandText({ vi: 'Xin chào', en: 'Hello' })).toBe('Hello')
  expect(brandText({ vi: 'Xin chào' })).toBe('Xin chào')
  expect(brandText({})).toBe('')
  expect(brandText(undefined)).toBe('')
})

test('without a brand the name is that of the branch', async () => {
  await setLanguage('en')
  expect(restaurantName('Quán Hoa')).toBe('Quán Hoa')
  expect(restaurantName()).toBe('Menu')
})

// Guests see the restaurant's name. Only keys in the browser's storage contain the product's name.
test('no text for guests names Comanda', () => {
  const files = import.meta.glob<string>(
    ['../**/*.vue', '../**/*.json', '../../../shared/i18n/*.json', '../../../guest.html'], { query: '?raw', import: 'default', eager: true },
  )
  expect(Object.keys(files).length).toBeGreaterThan(40)
  expect(Object.entries(files).filter(([, text]) => text.includes('Comanda')).map(([name]) => name)).toEqual([])
})
