import { expect, test } from 'vitest'

import { isValidPin } from './pin'

test.each(['4071', '1223', '135798', '2468', '90817263'])('%s can be a PIN', (pin) => {
  expect(isValidPin(pin)).toBe(true)
})

test.each(['', '407', '407140714', '40a1', '1111', '1234', '9876', '01234567', ' 4071'])('%j cannot be a PIN', (pin) => {
  expect(isValidPin(pin)).toBe(false)
})
