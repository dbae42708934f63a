import { VueQueryPlugin } from '@tanstack/vue-query'
import { beforeAll, expect, test, vi } from 'vitest'
import { createApp } from 'vue'

import { changeLanguage } from '../shell/i18n'
import { useVersion } from './useVersion'

const answers = vi.hoisted(() => ({ groups: [] as number[] })) // the statuses of the next changes
const problem = { itemId: '11', code: 'too_few_options' }
vi.mock('vue-router', () => ({ useRouter: () => ({}) }))
vi.mock('../shell/branch', async () => {
  const { ref } = await import('vue')
  return { branchId: ref('1'), branches: ref([]) }
})
vi.mock('../shell/session', async () => {
  const { answer } = await import('@shared/api/client')
  const { ref } = await import('vue')
  const api = {
    GET: () => Promise.resolve({ data: { items: [] }, response: new Response() }),
    POST: () => Promise.resolve({ error: { code: 'version_incomplete', problems: [problem] }, response: new Response(null, { status: 409 }) }),
    PUT: () => {
      const status = answers.groups.shift() ?? 200
      return Promise.resolve({ ...(status === 200 ? { data: {} } : { error: { code: 'options_invalid' } }), response: new Response(null, { status }) })
    },
  }
  return { api, ask: (call: () => Parameters<typeof answer>[0]) => answer(call()), can: () => true, person: ref() }
})

beforeAll(async () => { await changeLanguage('en') })

test('the problems of a dish are dropped only after its options have changed', async () => {
  let version!: ReturnType<typeof useVersion>
  const app = createApp({ setup: () => { version = useVersion('9') }, render: () => null })
  app.use(VueQueryPlugin).mount(document.createElement('div'))
  await version.publish.mutateAsync(undefined).catch(() => undefined)
  expect(version.problems.value).toEqual([problem])

  const items = [{ itemId: '11', groups: [] }, { itemId: '12', groups: [] }]
  for (const statuses of [[422], [200, 422]]) {
    answers.groups = statuses
    await expect(version.regroup.mutateAsync(items)).rejects.toMatchObject({ status: 422 })
    expect(version.problems.value, String(statuses)).toEqual([problem])
  }
  await version.regroup.mutateAsync(items)
  expect(version.problems.value).toEqual([])
  app.unmount()
})
