import { expect, test } from 'vitest'

import { unfilled } from './missing'

test('the empty fields are listed in the order of the form', () => {
  expect(unfilled(['Name', false], ['Price', true], ['Reason', false])).toEqual(['Name', 'Reason'])
  expect(unfilled(['Name', true])).toEqual([])
})
