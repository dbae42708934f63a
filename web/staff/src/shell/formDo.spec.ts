import { VueQueryPlugin } from '@tanstack/vue-query'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createApp, ref } from 'vue'

import type { Answer } from '@shared/api/client'
import { Fault } from '@shared/api/fault'
import { useFormDo } from './formDo'
import { changeLanguage } from './i18n'
import { notice } from './notices'

const token = vi.hoisted(() => ({ arrives: [] as (() => void)[] }))
vi.mock('./session', async () => {
  const { ref } = await import('vue')
  const ask = async (call: () => Promise<unknown>) => { // as after a renewal of the token
    await new Promise<void>((resolve) => { token.arrives.push(resolve) })
    return call()
  }
  return { ask, can: () => true, person: ref() }
})

beforeAll(async () => { await changeLanguage('en') })
beforeEach(() => {
  token.arrives.length = 0
  notice.value = undefined
})

/** A dialog with one field, and the requests that reached the server with their answers. */
function dialog() {
  const shown = ref<string>()
  const field = ref('')
  const finished: string[] = []
  const refused: string[] = []
  const requests: { to: string; answer: () => void; refuse: (e: Fault) => void }[] = []
  let form!: ReturnType<typeof useFormDo<undefined, unknown>>
  const app = createApp({
    setup: () => {
      form = useFormDo(() => shown.value, () => {
        const to = `${shown.value ?? ''}: ${field.value}`
        return () => new Promise<Answer<unknown>>((resolve, reject) => {
          requests.push({ to, answer: () => { resolve({ response: new Response() }) }, refuse: reject })
        })
      }, {
        done: 'Saved',
        finish: () => {
          finished.push(String(shown.value))
          shown.value = undefined
        },
        failed: (e) => refused.push(e.code) > 0,
      })
    },
    render: () => null,
  })
  app.use(VueQueryPlugin).mount(document.createElement('div'))
  const send = async (as: string, text: string) => {
    shown.value = as
    field.value = text
    form.mutate(undefined)
    await vi.waitFor(() => { expect(token.arrives.length).toBeGreaterThan(0) })
  }
  const arrive = async (n: number) => {
    token.arrives.shift()?.()
    await vi.waitFor(() => { expect(requests).toHaveLength(n) })
  }
  return { shown, field, finished, refused, requests, send, arrive, pending: () => form.isPending.value, leave: () => { app.unmount() } }
}

test('a change is that of the dialog in which it was sent, and its answer leaves the next dialog open', async () => {
  const { shown, field, finished, requests, send, arrive, pending, leave } = dialog()
  await send('Lan', 'chef')
  expect(pending()).toBe(true)
  shown.value = undefined // Cancel
  shown.value = 'Minh'
  field.value = 'waiter'
  expect(pending()).toBe(false)
  await arrive(1)
  requests[0]?.answer()
  await vi.waitFor(() => { expect(notice.value?.text).toBe('Saved') })
  expect([shown.value, field.value, finished]).toEqual(['Minh', 'waiter', []])

  await send('Minh', 'waiter')
  await arrive(2)
  requests[1]?.answer()
  await vi.waitFor(() => { expect(finished).toEqual(['Minh']) })
  expect(requests.map((r) => r.to)).toEqual(['Lan: chef', 'Minh: waiter'])
  leave()
})

test('a dialog that was opened again for the same stays open', async () => {
  const { shown, finished, requests, send, arrive, pending, leave } = dialog()
  await send('Lan', 'chef')
  await arrive(1)
  shown.value = undefined
  shown.value = 'Lan'
  expect(pending()).toBe(false)
  requests[0]?.answer()
  await vi.waitFor(() => { expect(notice.value?.text).toBe('Saved') })
  expect([shown.value, finished]).toEqual(['Lan', []])
  leave()
})

test('a refusal is shown in its own dialog, and in a notice after that was closed', async () => {
  const { shown, refused, requests, send, arrive, leave } = dialog()
  await send('Lan', 'chef')
  await arrive(1)
  requests[0]?.refuse(new Fault('conflict', 409))
  await vi.waitFor(() => { expect(refused).toEqual(['conflict']) })
  expect([shown.value, notice.value]).toEqual(['Lan', undefined])

  await send('Lan', 'chef')
  await arrive(2)
  shown.value = undefined
  requests[1]?.refuse(new Fault('conflict', 409))
  await vi.waitFor(() => { expect(notice.value?.bad).toBe(true) })
  expect(refused).toEqual(['conflict'])
  leave()
})

test('an answer after the page was left finishes nothing', async () => {
  const { finished, requests, send, arrive, leave } = dialog()
  await send('Lan', 'chef')
  await arrive(1)
  leave()
  requests[0]?.answer()
  await vi.waitFor(() => { expect(notice.value?.text).toBe('Saved') })
  expect(finished).toEqual([])
})
