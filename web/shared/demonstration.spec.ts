import { expect, test } from 'vitest'

import { isDemonstration } from './demonstration'

test.each([
  ['{"methods":["SANDBOX"],"demo":true}', true],
  ['{"methods":["COUNTER"]}', false],
  ['{"demo":"true"}', false],
  ['null', false],
  ['', false],
])('%j: %s', (boot, want) => {
  const page = document.implementation.createHTMLDocument()
  const block = page.createElement('script')
  block.id = 'boot'
  block.textContent = boot
  page.body.append(block)
  expect(isDemonstration(page)).toBe(want)
})

test('a page without boot data is no demonstration', () => {
  expect(isDemonstration(document.implementation.createHTMLDocument())).toBe(false)
})
