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
