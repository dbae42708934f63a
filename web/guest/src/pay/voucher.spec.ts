import { beforeEach, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'

beforeEach(() => {
  sessionStorage.clear()
  vi.resetModules()
})

/** The voucher of a page that is opened or reloaded. */
async function open() {
  vi.resetModules()
  return (await import('./voucher')).useVoucher('guest')
}

test('a code survives a reload of the page', async () => {
  ;(await open()).enter(' willkommen ')
  expect((await open()).wired()).toEqual({ voucher: 'WILLKOMMEN' })
})

test('a code that was used or refused is gone after a reload, too', async () => {
  const used = await open()
  used.enter('WILLKOMMEN')
  used.enter('')
  expect((await open()).wired(), 'used').toEqual({})
  const refused = await open()
  refused.enter('NOPE')
  expect(refused.refuse(new Fault('voucher_unknown', 422))).toBe(true)
  expect((await open()).wired(), 'refused').toEqual({})
})

test('a guest’s code is not the member’s, and leaves with its owner', async () => {
  const page = await import('./voucher')
  const [guest, member] = [page.useVoucher('guest'), page.useVoucher('member')]
  guest.enter('TABLE')
  expect(member.wired()).toEqual({})
  member.enter('MINE')
  page.forgetVoucher('member')
  expect([guest.wired(), member.wired(), (await open()).wired()]).toEqual([{ voucher: 'TABLE' }, {}, { voucher: 'TABLE' }])
  vi.resetModules()
  expect((await import('./voucher')).useVoucher('member').wired(), 'after a reload').toEqual({})
})
