import { VueQueryPlugin } from '@tanstack/vue-query'
import { expect, test, vi } from 'vitest'
import { createApp, ref } from 'vue'

import { branchId } from './branch'
import { queries, useAsk, type Asked } from './query'

vi.mock('./session', () => ({ ask: async (call: () => Promise<unknown>) => call() }))
vi.mock('./branch', async () => {
  const { ref } = await import('vue')
  return { branchId: ref('1') }
})

test('the previous page stays while the next one loads, but not that of another branch', async () => {
  const page = ref(1)
  const answer = vi.fn<() => Promise<unknown>>().mockResolvedValueOnce('page 1').mockReturnValue(new Promise(() => undefined))
  let asked!: Asked<unknown>
  const app = createApp({ setup: () => { asked = useAsk('stock', answer as never, () => [page.value], { keep: true }) }, render: () => null })
  app.use(VueQueryPlugin, { queryClient: queries }).mount(document.createElement('div'))
  await vi.waitFor(() => { expect(asked.data.value).toBe('page 1') })
  page.value = 2
  await vi.waitFor(() => { expect(asked.isPlaceholderData.value).toBe(true) })
  expect(asked.data.value).toBe('page 1')
  ;(branchId as { value: string }).value = '2'
  await vi.waitFor(() => { expect(asked.data.value).toBeUndefined() })
  app.unmount()
})
