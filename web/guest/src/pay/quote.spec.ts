import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope, nextTick, ref, watch, type EffectScope } from 'vue'

import { Fault } from '@shared/api/fault'

import type { Menu } from '../api/dto'
import { useQuote, type Quoted } from './quote'
import { useVoucher } from './voucher'

const quotedFor = (total: number): Quoted => ({
  total, breakdown: { priceMode: 'EXCLUSIVE', goods: total - 100, discount: 0, service: 0, taxes: [{ rate: '8.875', base: total - 100, amount: 100 }], rounding: 0, total },
})
const taxed = { menuVersionId: '5', pricing: { priceMode: 'EXCLUSIVE', serviceCharges: [] } } as unknown as Menu
const plain = { menuVersionId: '5' } as unknown as Menu

const voucher = useVoucher('guest')

let scope: EffectScope
beforeEach(() => {
  vi.useFakeTimers()
  voucher.enter('')
  scope = effectScope()
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})

function start(menu: Menu, ask: (qty: number) => Promise<Quoted>) {
  const qty = ref(1)
  const quote = scope.run(() => useQuote(() => menu, () => qty.value, () => qty.value * 1000, voucher, ask)) as ReturnType<typeof useQuote>
  return { qty, ...quote }
}

test('without taxes and charges the total is the sum of the lines, and the server is not asked', async () => {
  const ask = vi.fn<(qty: number) => Promise<Quoted>>()
  const { qty, total, ready, quoted } = start(plain, ask)
  qty.value = 3
  await nextTick()
  await vi.runAllTimersAsync()
  expect([total.value, ready.value, quoted.value], 'total, ready, quote').toEqual([3000, true, undefined])
  expect(ask, 'requests').not.toHaveBeenCalled()
})

test('the server is asked once after several changes, and an overtaken answer is dropped', async () => {
  const answers: ((q: Quoted) => void)[] = []
  const ask = vi.fn<(qty: number) => Promise<Quoted>>(() => new Promise((resolve) => { answers.push(resolve) }))
  const { qty, total, ready } = start(taxed, ask)
  await vi.runAllTimersAsync()
  answers[0]?.(quotedFor(1100))
  await vi.runAllTimersAsync()
  expect([total.value, ready.value], 'the first total').toEqual([1100, true])

  qty.value = 2
  await nextTick()
  expect(ready.value, 'ready after a change').toBe(false)
  qty.value = 3
  await nextTick()
  await vi.runAllTimersAsync()
  expect(ask, 'requests for two changes').toHaveBeenCalledTimes(2)
  qty.value = 4
  await nextTick()
  await vi.runAllTimersAsync()
  answers[2]?.(quotedFor(4100))
  answers[1]?.(quotedFor(3100))
  await vi.runAllTimersAsync()
  expect([total.value, ready.value], 'the newest total').toEqual([4100, true])
})

test('the total stays unknown while the server is unreachable; a refusal of the lines leaves their sum', async () => {
  const ask = vi.fn<(qty: number) => Promise<Quoted>>().mockRejectedValueOnce(new Fault('unreachable', 0))
  const { qty, total, ready, failed } = start(taxed, ask)
  await vi.advanceTimersByTimeAsync(0)
  expect([ready.value, failed.value], 'without an answer').toEqual([false, true])
  ask.mockRejectedValueOnce(new Fault('item_unknown', 422))
  qty.value = 2
  await nextTick()
  await vi.runAllTimersAsync()
  expect([total.value, ready.value, failed.value], 'after a refusal').toEqual([2000, true, false])
})

test('a server that is too busy is asked again, at the earliest when it says, until the scope ends', async () => {
  const ask = vi.fn<(qty: number) => Promise<Quoted>>().mockRejectedValue(new Fault('unavailable', 503))
  const { qty, total, ready, failed } = start(taxed, ask)
  await vi.advanceTimersByTimeAsync(0)
  ask.mockRejectedValueOnce(new Fault('rate_limited', 429, {}, 10))
  const said = vi.fn()
  watch(failed, said)
  for (const [ms, requests] of [[999, 1], [1, 2], [9999, 2], [1, 3], [3999, 3], [1, 4], [7999, 4], [1, 5]] as const) {
    await vi.advanceTimersByTimeAsync(ms)
    expect(ask, 'requests').toHaveBeenCalledTimes(requests)
  }
  expect([ready.value, failed.value, said.mock.calls], 'the notice stays').toEqual([false, true, []])
  qty.value = 2 // asks at once, and replaces the repetition
  ask.mockResolvedValueOnce(quotedFor(2200))
  await vi.advanceTimersByTimeAsync(0)
  expect([total.value, ready.value, failed.value]).toEqual([2200, true, false])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ask, 'requests').toHaveBeenCalledTimes(6)

  qty.value = 3
  await vi.advanceTimersByTimeAsync(150) // fails, and would be repeated
  qty.value = 4
  await vi.advanceTimersByTimeAsync(149)
  scope.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ask, 'requests').toHaveBeenCalledTimes(7)
})

test('a request that fails after the scope has ended is not repeated', async () => {
  const ask = vi.fn<(qty: number) => Promise<Quoted>>().mockRejectedValue(new Fault('unavailable', 503))
  start(taxed, ask)
  vi.advanceTimersByTime(0) // sent, and not answered yet
  scope.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ask, 'requests').toHaveBeenCalledTimes(1)
})

test('an order with a voucher is priced by the server, and a refused code is removed with its reason', async () => {
  const answers = [() => Promise.resolve(quotedFor(900)), () => Promise.reject(new Fault('voucher_minimum', 409, { minGoods: 3000 }))]
  const ask = vi.fn<(qty: number) => Promise<Quoted>>(() => answers.shift()?.() ?? Promise.reject(new Fault('gone')))
  const { total, ready } = start(plain, ask)
  expect([total.value, ready.value], 'without a code').toEqual([1000, true])
  voucher.enter(' hello26 ')
  await nextTick()
  expect([voucher.code.value, ready.value], 'while the server is asked').toEqual(['HELLO26', false])
  await vi.runAllTimersAsync()
  expect([total.value, ready.value], 'with the code').toEqual([900, true])
  voucher.enter('LARGE')
  await vi.runAllTimersAsync()
  expect([voucher.code.value, voucher.refusal.value], 'the refused code').toEqual(['', { text: 'voucher.minimum', minGoods: 3000 }])
  expect([total.value, ready.value], 'without the code').toEqual([1000, true])
  expect(ask, 'requests').toHaveBeenCalledTimes(2)
})
