import { QueryClient, VueQueryPlugin } from '@tanstack/vue-query'
import { expect, test, vi } from 'vitest'
import { createApp, ref } from 'vue'

import { useDiscounts } from './useDiscounts'

const get = vi.hoisted(() => vi.fn<(path: string, options: { params: { path: { id: number } } }) => Promise<unknown>>())
vi.mock('../shell/session', async () => {
  const { ref } = await import('vue')
  return { api: { GET: get }, ask: async (call: () => Promise<unknown>) => call(), can: () => true, person: ref() }
})
vi.mock('../shell/branch', async () => {
  const { ref } = await import('vue')
  return { branchId: ref('2'), branches: ref([]) } // the console shows branch 2
})

test("an order offers its own branch's discounts", async () => {
  get.mockImplementation((_, { params }) => Promise.resolve({ discounts: [{ code: `OF_${String(params.path.id)}` }] }))
  const [order, needed] = [ref({ branchId: '1' }), ref(false)]
  let found!: ReturnType<typeof useDiscounts>
  const app = createApp({ setup: () => { found = useDiscounts(() => order.value, () => needed.value) }, render: () => null })
  app.use(VueQueryPlugin, { queryClient: new QueryClient() }).mount(document.createElement('div'))
  expect(get).not.toHaveBeenCalled()
  needed.value = true
  await vi.waitFor(() => { expect(found.kinds.value).toEqual([{ code: 'OF_1' }]) })
  order.value = { branchId: '3' }
  await vi.waitFor(() => { expect(found.kinds.value).toEqual([{ code: 'OF_3' }]) })
  app.unmount()
})
