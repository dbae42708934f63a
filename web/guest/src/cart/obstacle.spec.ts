import { expect, test } from 'vitest'

import { setLanguage } from '@shared/i18n'

import type { ShownLine } from './line'
import { obstacleText, problemText } from './obstacle'

const line = { name: 'Beef pho', onMenu: true, gone: false, available: 2, qty: 3 } as ShownLine

test.each([
  [{}, 'Only 2 “Beef pho” left. Change the quantity to continue.'],
  [{ gone: true, available: 0 }, '“Beef pho” just sold out. Remove it to continue.'],
  [{ qty: 1, problem: { code: 'gone' as const, names: ['L'] } }, '“Beef pho” needs a new choice. Choose again to continue.'],
  [{ gone: true, onMenu: false, available: 0 }, 'The menu has changed. No longer available: Beef pho.'],
])('a line that is %j: %s', async (change, want) => {
  await setLanguage('en')
  expect(obstacleText({ ...line, ...change })).toBe(want)
})

test('options whose names are not known any more have a text too', async () => {
  await setLanguage('en')
  expect(problemText({ code: 'gone', names: [] }), 'text').toBe('Some options have changed')
})

test.each([
  ['gone', 'No longer offered: L, Pearls'], ['soldOut', 'Sold out: L, Pearls'], ['changed', 'The options for L, Pearls have changed'],
] as const)('options that are %s: %s', async (code, want) => {
  await setLanguage('en')
  expect(problemText({ code, names: ['L', 'Pearls'] }), 'text').toBe(want)
})
