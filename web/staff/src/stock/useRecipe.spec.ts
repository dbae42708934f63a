import { QueryClient, VueQueryPlugin } from '@tanstack/vue-query'
import { beforeEach, expect, test, vi } from 'vitest'
import { createApp, ref } from 'vue'

import type { RecipeOwner } from './level'
import { useRecipe } from './useRecipe'

const { get, put } = vi.hoisted(() => ({ get: vi.fn<() => Promise<unknown>>(), put: vi.fn<(path: string, given: unknown) => Promise<unknown>>() }))
vi.mock('../shell/session', async () => {
  const { ref } = await import('vue')
  return { api: { GET: get, PUT: put }, ask: async (call: () => Promise<unknown>) => call(), can: () => true, person: ref() }
})
vi.mock('../shell/branch', async () => {
  const { ref } = await import('vue')
  return { branchId: ref('1'), branches: ref([]) }
})

const owner = (itemId: string) => ({ itemId, names: { en: 'Soup' } }) as unknown as RecipeOwner
const recipe = (quantity: number) => ({ lines: [{ itemId: 'NOODLES', quantity }] })
const finish = vi.fn()
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
beforeEach(() => {
  queries.clear()
  get.mockReset()
  finish.mockReset()
  put.mockReset().mockResolvedValue({})
})

function open(item: RecipeOwner) {
  const shown = ref<RecipeOwner>(item)
  let found!: ReturnType<typeof useRecipe>
  const app = createApp({ setup: () => { found = useRecipe(() => shown.value, finish) }, render: () => null })
  app.use(VueQueryPlugin, { queryClient: queries }).mount(document.createElement('div'))
  return { found, shown, close: () => { app.unmount() } }
}

test('a recipe cannot be saved before it has been read', async () => {
  let arrive = (): void => undefined
  get.mockReturnValueOnce(new Promise((resolve) => { arrive = () => { resolve(recipe(2)) } }))
  const { found, close } = open(owner('11'))
  expect([found.good.value, found.lines.value]).toEqual([false, []])
  arrive()
  await vi.waitFor(() => { expect(found.good.value).toBe(true) })
  found.save.mutate(undefined)
  await vi.waitFor(() => { expect(put).toHaveBeenCalled() })
  expect(put.mock.calls[0]?.[1]).toMatchObject({ body: recipe(2) })
  close()
})

test('a later answer replaces lines that are unchanged, and keeps those that were edited', async () => {
  get.mockResolvedValueOnce(recipe(2)).mockResolvedValueOnce(recipe(3)).mockResolvedValueOnce(recipe(4))
  const { found, close } = open(owner('11'))
  await vi.waitFor(() => { expect(found.lines.value[0]?.typed).toBe('2') })
  await found.asked.refetch()
  await vi.waitFor(() => { expect(found.lines.value[0]?.typed).toBe('3') })
  found.lines.value[0] = { itemId: 'NOODLES', typed: '7' }
  await found.asked.refetch()
  await vi.waitFor(() => { expect(found.asked.data.value).toEqual(recipe(4)) })
  expect(found.lines.value[0]?.typed).toBe('7')
  close()
})

test('another dish shows its own recipe, whatever was typed', async () => {
  let arrive = (): void => undefined
  get.mockResolvedValueOnce(recipe(2)).mockReturnValueOnce(new Promise((resolve) => { arrive = () => { resolve(recipe(5)) } }))
  const { found, shown, close } = open(owner('11'))
  await vi.waitFor(() => { expect(found.good.value).toBe(true) })
  found.lines.value[0] = { itemId: 'NOODLES', typed: '7' }
  shown.value = owner('12')
  await vi.waitFor(() => { expect(found.lines.value).toEqual([]) })
  expect(found.good.value).toBe(false)
  arrive()
  await vi.waitFor(() => { expect(found.lines.value[0]?.typed).toBe('5') })
  close()
})

test('a save belongs to the dish for which it was pressed', async () => {
  get.mockResolvedValue(recipe(2))
  let arrive = (): void => undefined
  put.mockReturnValueOnce(new Promise((resolve) => { arrive = () => { resolve({}) } }))
  const { found, shown, close } = open(owner('11'))
  await vi.waitFor(() => { expect(found.good.value).toBe(true) })
  found.save.mutate(undefined)
  shown.value = owner('12')
  await vi.waitFor(() => { expect(put).toHaveBeenCalled() })
  expect(put.mock.calls[0]?.[1]).toMatchObject({ params: { path: { id: 11 } } })
  arrive()
  await vi.waitFor(() => { expect(get.mock.calls.length).toBeGreaterThan(2) }) // the recipes are read again
  expect(finish).not.toHaveBeenCalled()
  close()
})
