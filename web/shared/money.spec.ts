import { expect, test } from 'vitest'

import { formatMoney } from './money'

const plain = (text: string) => text.replace(/\s/gu, ' ')

test.each([
  [130000, 'VND', 'vi', '130.000 ₫'],
  [130000, 'VND', 'en', '₫130,000'],
  [440, 'TWD', 'zh-Hant', '$440'],
  [440, 'TWD', 'en', 'NT$440'],
  [440, 'TWD', 'vi', '440 NT$'],
  [1250, 'USD', 'en', '$12.50'],
  [1250, 'JPY', 'en', '¥1,250'],
  [0, 'VND', 'vi', '0 ₫'],
])('%d %s in %s is %s', (amount, currency, locale, want) => {
  expect(plain(formatMoney(amount, currency, locale))).toBe(want)
})
