import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope } from 'vue'

import { Fault } from '@shared/api/fault'

import type { CreateOrder } from '../api/dto'
import { useSubmit } from './submit'

const create = vi.fn<(body: CreateOrder) => Promise<unknown>>()

const body: CreateOrder = { items: [{ itemId: '1', qty: 1 }], paymentMethod: 'COUNTER', clientTxnId: 'c', menuVersionId: '5' }

beforeEach(() => {
  vi.useFakeTimers()
  create.mockReset()
})
afterEach(() => {
  vi.useRealTimers()
})

function submitter() {
  const made = effectScope().run(() => useSubmit(create))
  if (!made) throw new Error('the scope has ended')
  return made
}

test('the same request is repeated until the server answers', async () => {
  create.mockRejectedValueOnce(new Fault('offline')).mockRejectedValueOnce(new Fault('unavailable', 503)).mockResolvedValue({ id: 'o' })
  const { submit, state } = submitter()
  const done = submit(body)
  await vi.advanceTimersByTimeAsync(0)
  expect(state.value).toBe('waiting')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await done).toEqual({ id: 'o' })
  expect(state.value).toBe('idle')
  expect(create.mock.calls.map(([sent]) => sent)).toEqual([body, body, body])
})

test('a request is repeated as soon as the network is back', async () => {
  create.mockRejectedValueOnce(new Fault('offline')).mockResolvedValue({ id: 'o' })
  const done = submitter().submit(body)
  await vi.advanceTimersByTimeAsync(0)
  dispatchEvent(new Event('online'))
  expect(await done).toEqual({ id: 'o' })
})

test.each([
  ['sold_out', 409],
  ['too_many_unpaid', 429],
  ['visit_closed', 410],
])('%s is shown to the guest', async (code, status) => {
  create.mockRejectedValue(new Fault(code, status))
  await expect(submitter().submit(body)).rejects.toMatchObject({ code })
  expect(create).toHaveBeenCalledOnce()
})

test('the guest can stop the repetitions', async () => {
  create.mockRejectedValue(new Fault('offline'))
  const { submit, giveUp, state } = submitter()
  const done = submit(body)
  await vi.advanceTimersByTimeAsync(0)
  giveUp()
  expect(await done).toBeUndefined()
  expect(state.value).toBe('idle')
})

test.each([['waiting', 1], ['sending', 0]])('a guest who leaves while the request is %s ends the repetitions', async (_, attempts) => {
  create.mockRejectedValue(new Fault('offline'))
  const scope = effectScope()
  const { submit, left } = scope.run(() => useSubmit(create)) as ReturnType<typeof useSubmit<CreateOrder, unknown>>
  const done = submit(body)
  if (attempts) await vi.advanceTimersByTimeAsync(0)
  scope.stop()
  expect(left()).toBe(true)
  expect(await done).toBeUndefined()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(create).toHaveBeenCalledOnce()
  expect(await submit(body), 'nothing is sent later').toBeUndefined()
  expect(create).toHaveBeenCalledOnce()
})

test('a guest who leaves is not shown a refusal, but a last answer is returned', async () => {
  const scope = effectScope()
  const { submit } = scope.run(() => useSubmit(create)) as ReturnType<typeof useSubmit<CreateOrder, unknown>>
  create.mockRejectedValueOnce(new Fault('price_changed', 409, { currentTotal: 1 })).mockResolvedValueOnce({ id: 'o' })
  const [refused, placed] = [submit({ ...body, expectedTotal: 2 }), submit(body)]
  scope.stop()
  expect([await refused, await placed]).toEqual([undefined, { id: 'o' }])
  expect(create, 'requests').toHaveBeenCalledTimes(2)
})
