import { expect, test } from 'vitest'

import { setLanguage } from '@shared/i18n'

import type { ShownLine } from './line'
import { obstacleText } from './obstacle'

const line = { name: 'Beef pho', onMenu: true, gone: false, available: 2, qty: 3 } as ShownLine

test.each([
  [{}, 'Only 2 “Beef pho” left. Change the quantity to continue.'],
  [{ gone: true, available: 0 }, '“Beef pho” just sold out. Remove it to continue.'],
  [{ gone: true, onMenu: false, available: 0 }, 'The menu has changed. No longer available: Beef pho.'],
])('a line that is %j: %s', async (change, want) => {
  await setLanguage('en')
  expect(obstacleText({ ...line, ...change })).toBe(want)
})
