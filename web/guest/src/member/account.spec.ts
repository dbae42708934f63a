import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, test, vi } from 'vitest'
import { nextTick } from 'vue'

import { Fault } from '@shared/api/fault'

import { useVoucher } from '../pay/voucher'
import { offline } from '../shell/connection'
import { useAccount } from './account'
import type { Account, Grant } from './dto'

const { changeMe, tokens } = vi.hoisted(() => ({
  changeMe: vi.fn<() => Promise<Account>>(),
  tokens: {
    holder: undefined as string | undefined, onLost: undefined as (() => void) | undefined,
    renew: vi.fn<() => Promise<Grant | undefined>>(), drop: vi.fn(),
  },
}))
vi.mock('./api', () => ({ changeMe, tokens }))

beforeEach(() => {
  setActivePinia(createPinia())
  offline.value = false
  tokens.holder = '7'
  tokens.renew.mockReset()
})

test('a login that cannot be restored without a connection is kept, and restored when the connection is back', async () => {
  tokens.renew.mockRejectedValueOnce(new Fault('offline')).mockResolvedValueOnce({ user: { id: '7' } } as Grant)
  const account = useAccount()
  offline.value = true
  await account.restore()
  expect([account.kept, account.user, account.fault?.code, account.ended]).toEqual([true, undefined, 'offline', undefined])
  offline.value = false
  await nextTick()
  await vi.waitFor(() => {
    expect(account.user?.id).toBe('7')
  })
  expect([account.kept, account.fault]).toEqual([true, undefined])
})

test('a login that the server refuses to restore is gone', async () => {
  tokens.renew.mockImplementationOnce(() => {
    tokens.holder = undefined
    tokens.onLost?.()
    return Promise.resolve(undefined)
  })
  const account = useAccount()
  expect(account.kept).toBe(true)
  await account.restore()
  expect([account.kept, account.user, account.ended]).toEqual([false, undefined, 'lost'])
})

test('the logout of another tab takes effect also while there is no connection', async () => {
  tokens.renew.mockRejectedValueOnce(new Fault('offline'))
  const account = useAccount()
  await account.restore()
  tokens.holder = undefined
  account.onStorage('comanda.member')
  expect([account.kept, account.ended]).toEqual([false, 'left'])
})

test('a voucher is forgotten when its member has left or another one has logged in, and a guest’s is kept', async () => {
  const account = useAccount()
  const [guest, member] = [useVoucher('guest'), useVoucher('member')]
  guest.enter('TABLE')
  member.enter('MINE')
  tokens.renew.mockResolvedValueOnce({ user: { id: '7' } } as Grant).mockResolvedValueOnce({ user: { id: '8' } } as Grant)
  await account.restore()
  expect(member.code.value, 'of the member who is logged in').toBe('MINE')
  tokens.holder = '8'
  account.onStorage('comanda.member')
  expect(member.code.value, 'of another member').toBe('')
  member.enter('THEIRS')
  tokens.holder = undefined
  account.onStorage('comanda.member')
  expect([member.code.value, guest.code.value], 'after the logout').toEqual(['', 'TABLE'])
})

test.each([
  ['is shown', '7', '7', 'Mai'],
  ['is not shown after the logout', undefined, undefined, undefined],
  ['is not shown to another member', '8', '8', 'Nam'],
  ['is shown in a browser that stores nothing', undefined, '7', 'Mai'],
])('a saved profile %s', async (_, holder, shown, name) => {
  const account = useAccount()
  account.user = { id: '7', firstName: 'Lan' } as Account
  changeMe.mockImplementationOnce(() => {
    tokens.holder = holder
    account.user = shown ? { id: shown, firstName: shown === '7' ? 'Lan' : 'Nam' } as Account : undefined
    return Promise.resolve({ id: '7', firstName: 'Mai' } as Account)
  })
  await account.change({ firstName: 'Mai' })
  expect(account.user?.firstName).toBe(name)
})
