import { QueryClient, VueQueryPlugin } from '@tanstack/vue-query'
import { beforeEach, expect, test, vi } from 'vitest'
import { createApp, ref } from 'vue'

import { Fault } from '@shared/api/fault'
import { useDishLine } from './useDishLine'

const get = vi.hoisted(() => vi.fn<(path: string) => Promise<unknown>>())
vi.mock('../shell/session', async () => {
  const { ref } = await import('vue')
  return { api: { GET: get }, ask: async (call: () => Promise<unknown>) => call(), can: () => true, person: ref() }
})
vi.mock('../shell/branch', async () => {
  const { ref } = await import('vue')
  return { branchId: ref('1'), branches: ref([]) }
})

const menus = { items: [{ id: '3', publishedVersionId: '5', drafts: 0 }] }
const line = { itemId: '11', dishId: '7', price: 65_000, dailyQuota: 20 }
let answers: Record<string, () => Promise<unknown>>
beforeEach(() => {
  answers = {
    '/api/menus': () => Promise.resolve(menus),
    '/api/menus/{id}/versions': () => Promise.resolve({ items: [] }),
    '/api/menu-versions/{id}': () => Promise.resolve({ items: [line] }),
  }
  get.mockImplementation((path) => answers[path]?.() ?? Promise.reject(new Fault('not_found', 404)))
})

function read(dish: string | undefined) {
  let found!: ReturnType<typeof useDishLine>
  const app = createApp({ setup: () => { found = useDishLine(ref(dish)) }, render: () => null })
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  app.use(VueQueryPlugin, { queryClient }).mount(document.createElement('div'))
  return { found, close: () => { app.unmount() } }
}

test('a line is unknown until the version has been read', async () => {
  let arrive = (): void => undefined
  answers['/api/menu-versions/{id}'] = () => new Promise((resolve) => { arrive = () => { resolve({ items: [line] }) } })
  const { found, close } = read('7')
  await vi.waitFor(() => { expect(get).toHaveBeenCalledWith('/api/menu-versions/{id}', expect.anything()) })
  expect([found.known.value, found.line.value]).toEqual([false, undefined])
  arrive()
  await vi.waitFor(() => { expect(found.known.value).toBe(true) })
  expect(found.line.value).toEqual(line)
  close()
})

test.each(['/api/menus', '/api/menus/{id}/versions', '/api/menu-versions/{id}'])('%s fails, and is read again', async (path) => {
  const works = answers[path]
  answers[path] = () => Promise.reject(new Fault('internal', 500))
  const { found, close } = read('7')
  await vi.waitFor(() => { expect(found.trouble.value).toMatchObject({ code: 'internal' }) })
  expect(found.known.value).toBe(false)
  if (works) answers[path] = works
  found.again()
  await vi.waitFor(() => { expect(found.line.value).toEqual(line) })
  expect([found.known.value, found.trouble.value]).toEqual([true, undefined])
  close()
})

test('there is no line without a menu, without a version and on a menu without the dish', async () => {
  for (const [noun, answer] of [
    ['/api/menus', { items: [] }], ['/api/menus', { items: [{ ...menus.items[0], publishedVersionId: null }] }], ['/api/menu-versions/{id}', { items: [] }],
  ] as const) {
    const before = answers[noun]
    answers[noun] = () => Promise.resolve(answer)
    const { found, close } = read('7')
    await vi.waitFor(() => { expect(found.known.value).toBe(true) })
    expect([found.line.value, found.trouble.value]).toEqual([undefined, undefined])
    close()
    if (before) answers[noun] = before
  }
})

test('of a new dish nothing has to be read', () => {
  answers['/api/menus'] = () => Promise.reject(new Fault('internal', 500))
  const { found, close } = read(undefined)
  expect(found.known.value).toBe(true)
  close()
})
