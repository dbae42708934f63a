import { expect, test } from 'vitest'

import { toCSV } from './files'

test('a table is written as CSV for spreadsheets', () => {
  expect(toCSV([['a', 'b'], ['x,"y"', 3], [null, 'two\nlines']])).toBe('\ufeffa,b\r\n"x,""y""",3\r\n,"two\nlines"\r\n')
})

test.each(['=1+1', '+1', '-1', '@x', '\tx'])('%j is not written as a formula', (text) => {
  expect(toCSV([[text]])).toBe(`\ufeff'${text}\r\n`)
})
