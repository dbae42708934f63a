import { expect, test, vi } from 'vitest'
import { createApp } from 'vue'
import { VueQueryPlugin } from '@tanstack/vue-query'

import { allowRetired, branch, branchOf, branchTitle, branches, changeBranch, choices, forgetBranches, useBranches, type Branch } from './branch'
import { changeLanguage } from './i18n'

const asked = vi.hoisted(() => vi.fn())
vi.mock('./session', async () => {
  const { ref } = await import('vue')
  return { api: { GET: asked }, ask: async (call: () => Promise<unknown>) => call(), can: () => true, person: ref() }
})

const named = (id: string, retiredAt: string | null = null) => ({ id, name: `Branch ${id}`, retiredAt }) as Branch

test('only pages about past data show retired branches', async () => {
  await changeLanguage('en')
  asked.mockImplementation((_: string, options?: { params?: { query?: { retired?: boolean } } }) =>
    Promise.resolve({ items: options?.params?.query?.retired ? [named('3', '2026-02-26T05:00:00Z')] : [named('1'), named('2')] }))
  const app = createApp({ setup: () => { useBranches() }, render: () => null })
  app.use(VueQueryPlugin).mount(document.createElement('div'))
  await vi.waitFor(() => { expect(branches.value).toHaveLength(2) })
  changeBranch('2')
  expect(asked).toHaveBeenCalledOnce() // the retired ones are loaded only if the page can show them
  expect(choices.value.map((b) => b.id)).toEqual(['1', '2'])

  allowRetired(true)
  await vi.waitFor(() => { expect(choices.value.map((b) => branchTitle(b))).toEqual(['Branch 1', 'Branch 2', 'Branch 3 (archived)']) })
  changeBranch('3')
  expect(branch.value?.id).toBe('3')
  allowRetired(false) // such as the order board
  expect(branch.value?.id).toBe('2')
  allowRetired(true)
  expect(branch.value?.id).toBe('3')
  changeBranch('1')
  expect(branch.value?.id).toBe('1')
  expect(['2', '3', '4', undefined].map((id) => branchOf(id)?.name)).toEqual(['Branch 2', 'Branch 3', undefined, undefined])

  forgetBranches()
  expect(choices.value).toEqual([])
  app.unmount()
})
