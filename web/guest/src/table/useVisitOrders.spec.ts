import { beforeEach, expect, test, vi } from 'vitest'
import { effectScope } from 'vue'

import { Fault } from '@shared/api/fault'

import { useVisitOrders } from './useVisitOrders'

const { ask, replace } = vi.hoisted(() => ({ ask: vi.fn<() => Promise<unknown>>(), replace: vi.fn() }))
vi.mock('../api/public', () => ({ ordersOfVisit: ask }))
vi.mock('./session', () => ({ useSession: () => ({ draft: { visitId: 'v' }, seat: () => undefined }) }))
vi.mock('vue-router', () => ({ useRouter: () => ({ replace }) }))

const ended = { name: 'closed', params: { reason: 'ended' } }
const begin = () => {
  const scope = effectScope()
  return { scope, visit: scope.run(useVisitOrders) as ReturnType<typeof useVisitOrders> }
}

beforeEach(() => {
  replace.mockReset()
})

test.each([
  ['that has ended leads to its page', new Fault('visit_closed', 409), [[ended]]],
  ['that cannot be read stays on the screen', new Fault('offline'), []],
])('a visit %s', async (_, fault, to) => {
  const { scope, visit } = begin()
  ask.mockRejectedValueOnce(fault)
  await visit.load()
  expect([replace.mock.calls, visit.busy.value]).toEqual([to, false])
  scope.stop()
})

test('an answer that arrives after the guest has left leads nowhere', async () => {
  const { scope, visit } = begin()
  let refuse: (fault: Fault) => void = () => undefined
  ask.mockImplementationOnce(() => new Promise((_, reject) => { refuse = reject }))
  const late = visit.load()
  scope.stop()
  refuse(new Fault('visit_closed', 409))
  await late
  expect(replace).not.toHaveBeenCalled()
})

test('the orders are loaded again every ten seconds until the page ends', async () => {
  vi.useFakeTimers()
  ask.mockReset().mockResolvedValue({ orders: [], table: {} })
  const { scope } = begin()
  await vi.advanceTimersByTimeAsync(20_000)
  scope.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ask).toHaveBeenCalledTimes(2)
  vi.useRealTimers()
})
