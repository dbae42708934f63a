import { expect, test } from 'vitest'

import { forStaff, type BellNotice } from './useBell'

const notice = (id: string, kind: BellNotice['kind'], read: boolean) => ({ id, kind, read }) as BellNotice

test('notices about own orders are neither shown nor counted', () => {
  const low = notice('3', 'STOCK_LOW', false)
  const call = notice('2', 'TABLE_CALL', true)
  expect(forStaff({ items: [notice('4', 'ORDER_READY', false), low, call] })).toEqual({ items: [low, call], unread: 1 })
  expect(forStaff({ items: [notice('4', 'ORDER_READY', false)] })).toEqual({ items: [], unread: 0 })
})
