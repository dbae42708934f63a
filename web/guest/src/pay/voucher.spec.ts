import { beforeEach, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'

beforeEach(() => {
  sessionStorage.clear()
  vi.resetModules()
})

/** The voucher of a page that is opened or reloaded. */
async function open() {
  vi.resetModules()
  return (await import('./voucher')).useVoucher()
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
