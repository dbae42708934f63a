import { expect, test } from 'vitest'

const sources = import.meta.glob<string>('../**/*.vue', { query: '?raw', import: 'default', eager: true })

test('no form of the console shows the messages of the browser', () => {
  const forms = Object.entries(sources).filter(([, source]) => /<form\s|'form'/.test(source))
  expect(forms.length).toBeGreaterThan(8)
  // Entry fields show texts of their own.
  expect(forms.filter(([, source]) => !source.includes('novalidate') && !source.includes('<entry-field')).map(([name]) => name)).toEqual([])
})
