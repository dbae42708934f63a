import { expect, test } from 'vitest'

import { changeLanguage, listed } from './i18n'

test.each([
  ['en', 'A-002, A-005'],
  ['vi', 'A-002, A-005'],
  ['zh-Hant', 'A-002、A-005'],
] as const)('names in a row have the comma of %s', async (language, want) => {
  await changeLanguage(language)
  expect(listed(['A-002', 'A-005'])).toBe(want)
})
