import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, test, vi } from 'vitest'

import { alerts } from '../order/readyalert'
import { useSession } from './session'

const { land } = vi.hoisted(() => ({ land: vi.fn() }))
vi.mock('../api/public', () => ({ land, useToken: () => undefined }))

const branch = (id: string, sharedCart = false) => ({ id, name: 'x', currency: 'VND', timezone: 'UTC', locales: [], sharedCart })
const visit = (visitId: string, at = branch('1')) => ({ customerToken: 't', visitId, branchId: at.id, branch: at, tableId: '1', tableLabel: 'A1' })
const line = (itemId: string) => ({ itemId, qty: 1, notes: '', name: 'tea', price: 100 })

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
})

test.each([
  ['a cart of its own', branch('1'), { cartDraft: [line('1')] }, branch('1'), ['1']],
  ['this phone’s lines of a shared cart', branch('1', true), { cartDraft: [], own: [line('2')] }, branch('1', true), ['2']],
  ['no line that was to be removed', branch('1', true), { cartDraft: [{ ...line('1'), qty: 0, id: 'a' }, line('2')] }, branch('1'), ['2']],
  ['none of another branch', branch('1'), { cartDraft: [line('1')] }, branch('2'), []],
])('the next table is offered %s', async (_, before, kept, after, offered) => {
  const session = useSession()
  land.mockResolvedValueOnce(visit('first', before)).mockResolvedValueOnce(visit('second', after))
  await session.enter('qr')
  session.keep(kept)
  await session.enter('qr')
  expect(session.leftover.map((l) => l.itemId)).toEqual(offered)
  expect([session.draft?.cartDraft, session.draft?.own]).toEqual([[], undefined])
})

test('a scan of the same table keeps the cart', async () => {
  const session = useSession()
  land.mockResolvedValue(visit('first'))
  await session.enter('qr')
  session.keep({ cartDraft: [line('1')] })
  await session.enter('qr')
  expect([session.leftover, session.draft?.cartDraft]).toEqual([[], [line('1')]])
})

test('a request that was sent ahead is used once, for its own table', async () => {
  const session = useSession()
  land.mockReset().mockImplementation((qr: string) => Promise.resolve(visit(qr)))
  session.request('a')
  await session.enter('a')
  expect(land).toHaveBeenCalledTimes(1)
  await session.enter('a')
  expect(land).toHaveBeenCalledTimes(2)
  session.request('a')
  await session.enter('b')
  expect(session.draft?.visitId).toBe('b')
})

test('a request that was sent ahead and failed is sent again by the next attempt', async () => {
  const session = useSession()
  land.mockReset().mockRejectedValueOnce(new Error('offline')).mockResolvedValue(visit('first'))
  session.request('a')
  await expect(session.enter('a')).rejects.toThrow('offline')
  await session.enter('a')
  expect(session.draft?.visitId).toBe('first')
})

test('the table of the phone’s own visit follows a move, and is stored', async () => {
  const session = useSession()
  land.mockResolvedValue(visit('first'))
  await session.enter('qr')
  session.keep({ cartDraft: [line('1')] })
  session.seat('first', { id: '2', label: 'B2' })
  session.seat('other', { id: '3', label: 'C3' })
  session.seat('first', {} as { id: string; label: string }) // as from a server of an older release
  expect(session.table).toEqual({ id: '2', label: 'B2' })
  session.resume()
  expect([session.table?.label, session.draft?.cartDraft]).toEqual(['B2', [line('1')]])
})

test('a phone that forgets its visit forgets the alerts of its orders', () => {
  const session = useSession()
  alerts.value = [{ id: 'o1', number: 'A-042', by: 'notify' }, { id: 'm1', number: 'B-007', kind: 'PICKUP', by: 'notify' }]
  session.forget()
  expect(alerts.value.map((a) => a.id)).toEqual(['m1'])
})
