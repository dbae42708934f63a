import { VueQueryPlugin } from '@tanstack/vue-query'
import { beforeAll, expect, test, vi } from 'vitest'
import { createApp, ref } from 'vue'

import { changeLanguage } from '../shell/i18n'
import type { Entry } from './people'
import { useActors } from './useActors'

const get = vi.hoisted(() => vi.fn<(path: string, options: { params: { query: { q: string; size: number } } }) => Promise<unknown>>())
vi.mock('../shell/session', async () => {
  const { ref } = await import('vue')
  return { api: { GET: get }, ask: async (call: () => Promise<unknown>) => call(), can: () => true, person: ref() }
})

beforeAll(async () => { await changeLanguage('en') })

const accounts = [{ id: '1', username: 'Lan' }, { id: '2', username: 'Minh' }, { id: '3', username: 'Lana' }]

test('the accounts are searched on the server, and the chosen actor stays a choice', async () => {
  get.mockImplementation((_, { params: { query } }) => Promise.resolve({ items: accounts.filter((a) => a.username.includes(query.q)), total: 9000 }))
  const actor = ref<string | null>(null)
  let field!: ReturnType<typeof useActors>
  const app = createApp({
    setup: () => { field = useActors(actor, () => [{ actor: 'user:9', actorName: 'Hoa' } as Entry]) },
    render: () => null,
  })
  app.use(VueQueryPlugin).mount(document.createElement('div'))
  const titles = () => field.choices.value.map((c) => c.title)
  await vi.waitFor(() => { expect(titles()).toEqual(['Lan', 'Minh', 'Lana', 'Comanda', 'Another system']) })
  expect(get).toHaveBeenCalledOnce()

  field.typed.value = 'Lan'
  await vi.waitFor(() => { expect(titles()).toEqual(['Lan', 'Lana']) })
  actor.value = 'user:1' // the field shows its title now
  await vi.waitFor(() => { expect(titles()).toHaveLength(5) })
  field.typed.value = 'Minh'
  await vi.waitFor(() => { expect(titles()).toEqual(['Minh', 'Lan']) })

  actor.value = 'user:9' // chosen in an entry
  field.typed.value = 'Hoa'
  await vi.waitFor(() => { expect(titles()).toEqual(['Lan', 'Minh', 'Lana', 'Comanda', 'Another system', 'Hoa']) })
  actor.value = null
  field.typed.value = ''
  await vi.waitFor(() => { expect(titles()).toHaveLength(5) })
  const queries = get.mock.calls.map(([, o]) => o.params.query)
  expect([...new Set(queries.map((q) => q.q))]).toEqual(['', 'Lan', 'Minh'])
  expect(queries.every((q) => q.size === 20)).toBe(true)
  app.unmount()
})
