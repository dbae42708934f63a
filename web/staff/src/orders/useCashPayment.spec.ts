import { VueQueryPlugin } from '@tanstack/vue-query'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createApp, ref } from 'vue'

import { Fault } from '@shared/api/fault'
import { changeLanguage } from '../shell/i18n'
import { notice } from '../shell/notices'
import { useCashPayment } from './useCashPayment'

const post = vi.hoisted(() => vi.fn<(path: string, options: { params: { path: { id: string } } }) => Promise<unknown>>())
const get = vi.hoisted(() => vi.fn<() => Promise<unknown>>())
vi.mock('../shell/session', async () => {
  const { ref } = await import('vue')
  return { api: { POST: post, GET: get }, ask: async (call: () => Promise<unknown>) => call(), can: () => true, person: ref() }
})

beforeAll(async () => { await changeLanguage('en') })
beforeEach(() => {
  post.mockReset()
  get.mockReset()
  notice.value = undefined
})

const order = (id: string) => ({ id, number: `A-00${id}`, totalPrice: 65_000, late: false })

/** A dialog, and the answers to the payments in the order in which they were sent. */
function dialog() {
  const answers: { paid: () => void; failed: (e: Fault) => void }[] = []
  post.mockImplementation(() => new Promise((resolve, reject) => {
    answers.push({ paid: () => { resolve({}) }, failed: reject })
  }))
  const shown = ref<string>()
  let cash!: ReturnType<typeof useCashPayment>
  const app = createApp({
    setup: () => { cash = useCashPayment(() => shown.value, () => { shown.value = undefined }) },
    render: () => null,
  })
  app.use(VueQueryPlugin).mount(document.createElement('div'))
  return { shown, cash, answers, close: () => { app.unmount() } }
}

test('the answer for one order neither pays nor closes another', async () => {
  const { shown, cash, answers, close } = dialog()
  shown.value = '1'
  const first = cash.pay(order('1'))
  await vi.waitFor(() => { expect(answers).toHaveLength(1) })
  expect(cash.busy.value).toBe(true)
  shown.value = '2' // after Cancel
  expect(cash.busy.value).toBe(false)
  answers[0]?.paid()
  await first
  expect(notice.value?.text).toContain('A-001')
  expect(shown.value).toBe('2')

  const second = cash.pay(order('2'))
  await vi.waitFor(() => { expect(answers).toHaveLength(2) })
  answers[1]?.paid()
  await second
  expect(notice.value?.text).toContain('A-002')
  expect(shown.value).toBeUndefined()
  expect(post.mock.calls.map(([, o]) => o.params.path.id)).toEqual(['1', '2'])
  close()
})

test('an unknown outcome is that of the order in the request', async () => {
  const { shown, cash, answers, close } = dialog()
  get.mockResolvedValue({ payments: [{ method: 'COUNTER', state: 'PAID' }] })
  shown.value = '1'
  const lost = cash.pay(order('1'))
  await vi.waitFor(() => { expect(answers).toHaveLength(1) })
  shown.value = '2'
  answers[0]?.failed(new Fault('offline'))
  await lost

  const colleague = cash.pay(order('2')) // a colleague was faster, which this dialog must not take for its own payment
  await vi.waitFor(() => { expect(answers).toHaveLength(2) })
  answers[1]?.failed(new Fault('already_paid', 409))
  await colleague
  expect([shown.value, notice.value?.bad, get.mock.calls.length]).toEqual(['2', true, 0])

  shown.value = '1'
  const again = cash.pay(order('1'))
  await vi.waitFor(() => { expect(answers).toHaveLength(3) })
  answers[2]?.failed(new Fault('already_paid', 409))
  await again
  expect([shown.value, notice.value?.bad]).toEqual([undefined, false])
  expect(notice.value?.text).toContain('A-001')
  close()
})
