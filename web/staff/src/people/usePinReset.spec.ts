import { VueQueryPlugin } from '@tanstack/vue-query'
import { beforeAll, expect, test, vi } from 'vitest'
import { createApp, nextTick, shallowRef } from 'vue'

import { changeLanguage } from '../shell/i18n'
import { notice } from '../shell/notices'
import type { Account } from './people'
import { usePinReset } from './usePinReset'

const put = vi.hoisted(() => vi.fn<(path: string, options: { params: { path: { id: number } }; body: { pin: string } }) => Promise<unknown>>())
vi.mock('../shell/session', async () => {
  const { ref } = await import('vue')
  return { api: { PUT: put }, ask: async (call: () => Promise<unknown>) => call(), can: () => true, person: ref() }
})

beforeAll(async () => { await changeLanguage('en') })

const account = (id: string, name: string) => ({ id, username: name }) as Account
const [lan, minh] = [account('1', 'Lan'), account('2', 'Minh')]

test('the answer for one account shows its own PIN and leaves the dialog of another open', async () => {
  const answers: ((a: Account) => void)[] = []
  put.mockImplementation(() => new Promise((resolve) => { answers.push(resolve) }))
  const shown = shallowRef<Account>()
  const printed: [string, string][] = []
  let dialog!: ReturnType<typeof usePinReset>
  const app = createApp({
    setup: () => {
      dialog = usePinReset(() => shown.value, { reset: (a, pin) => { printed.push([a.id, pin]) }, close: () => { shown.value = undefined } })
    },
    render: () => null,
  })
  app.use(VueQueryPlugin).mount(document.createElement('div'))

  shown.value = lan
  await nextTick()
  dialog.pin.value = '482913'
  dialog.send()
  await vi.waitFor(() => { expect(answers).toHaveLength(1) })
  expect(dialog.busy.value).toBe(true)
  shown.value = undefined // Cancel
  await nextTick()
  shown.value = minh
  await nextTick()
  expect(dialog.busy.value).toBe(false)
  dialog.pin.value = '770156'
  answers[0]?.(lan)
  await vi.waitFor(() => { expect(printed).toEqual([['1', '482913']]) })
  expect([shown.value, dialog.pin.value]).toEqual([minh, '770156'])
  await vi.waitFor(() => { expect(notice.value?.text).toContain('Lan') })

  dialog.send()
  await vi.waitFor(() => { expect(answers).toHaveLength(2) })
  answers[1]?.(minh)
  await vi.waitFor(() => { expect(printed.at(-1)).toEqual(['2', '770156']) })
  expect(shown.value).toBeUndefined()
  expect(put.mock.calls.map(([, o]) => [o.params.path.id, o.body.pin])).toEqual([[1, '482913'], [2, '770156']])
  app.unmount()
})
