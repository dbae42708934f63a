import { beforeAll, expect, test } from 'vitest'

import { Fault } from '@shared/api/fault'
import { faultText } from './faults'
import { changeLanguage } from './i18n'

beforeAll(async () => { await changeLanguage('en') })

test('a step that is too early says which step comes first', () => {
  const text = (orderStatus?: string) => faultText(new Fault('wrong_step', 409, { orderStatus }))
  expect(text('PLACED')).toBe('This order hasn’t been started yet. Start it first.')
  expect(text('ACCEPTED')).toBe('This order hasn’t been started yet. Start it first.')
  expect(text('PREPARING')).toBe('This order isn’t ready yet. Mark it as ready first.')
  for (const other of ['SERVED', 'CANCELED', undefined]) expect(text(other), String(other)).toBe('This order has already moved on.')
})

test('what is missing is named in the language of the console', async () => {
  await changeLanguage('vi')
  const text = (code: string) => faultText(new Fault(code, 404, { detail: 'Menu version not found.' }))
  expect(text('menu_version_not_found')).toBe('Mục này không còn nữa.')
  expect(text('table_not_found')).not.toBe(text('menu_version_not_found'))
  await changeLanguage('en')
})

test('an invalid request names its fields', () => {
  const errors = [{ field: 'body.name', message: 'expected length >= 1' }, { field: 'query.page', code: 'no_number', message: 'invalid integer' }]
  expect(faultText(new Fault('invalid', 422, { detail: 'Invalid.', errors })))
    .toBe('body.name: expected length >= 1\nquery.page: invalid integer')
})
