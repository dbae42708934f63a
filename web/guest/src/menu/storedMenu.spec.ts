import { beforeEach, expect, test } from 'vitest'

import type { Menu } from '../api/dto'
import { storeMenu, storedMenu } from './storedMenu'

const menu = { menuVersionId: '5', bizDate: '2026-02-26', currency: 'VND', paused: { until: null }, categories: [] } as unknown as Menu
const at = '2026-02-26T10:00:00.000Z'

beforeEach(() => {
  localStorage.clear()
})

test('the last menu of a branch is stored without its pause', () => {
  storeMenu('1', 'vi', menu, at)
  expect(storedMenu('1')).toEqual({ menu: { ...menu, paused: null, closed: null, hoursChange: null }, at })
  expect(storedMenu('2')).toBeUndefined()
})

test.each([
  'null', '7', '{}', 'no JSON', '{"schemaVersion":2,"branchId":"1"}',
  `{"schemaVersion":1,"branchId":"1","at":"${at}","menu":{"menuVersionId":"5","currency":"VND","categories":[{}]}}`,
  '{"schemaVersion":1,"branchId":"1","at":"soon","menu":{"menuVersionId":"5","currency":"VND","categories":[]}}',
])('%s is no stored menu', (stored) => {
  localStorage.setItem('comanda.menu', stored)
  expect(storedMenu('1')).toBeUndefined()
})
