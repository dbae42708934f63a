import { QueryClient, VueQueryPlugin } from '@tanstack/vue-query'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createApp } from 'vue'

import { changeLanguage } from '../shell/i18n'
import { notice } from '../shell/notices'
import { changed, rebased } from './matrix'
import type { Permission } from './people'
import { useRolePermissions } from './useRolePermissions'

const server = vi.hoisted(() => ({ ids: [] as string[], status: 200 }))
vi.mock('../shell/session', async () => {
  const { ref } = await import('vue')
  const { answer } = await import('@shared/api/client')
  const role = () => ({ id: '4', name: 'BARISTA', permissionIds: [...server.ids] })
  const api = {
    GET: () => Promise.resolve(server.status === 200
      ? { data: { items: [role()], total: 1 }, response: new Response() }
      : { error: { code: 'busy' }, response: new Response(null, { status: server.status }) }),
    PUT: (_: string, o: { body: { permissionIds: string[] } }) => {
      server.ids = o.body.permissionIds
      return Promise.resolve({ data: role(), response: new Response() })
    },
  }
  return { api, ask: async (call: () => Promise<never>) => answer(call()), can: () => true, person: ref() }
})

beforeAll(async () => { await changeLanguage('en') })
beforeEach(() => {
  Object.assign(server, { ids: ['1', '2'], status: 200 })
  notice.value = undefined
})

const permission = (id: string) => ({ id }) as Permission

async function page() {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  let view!: ReturnType<typeof useRolePermissions>
  const app = createApp({ setup: () => { view = useRolePermissions(() => '4') }, render: () => null })
  app.use(VueQueryPlugin, { queryClient }).mount(document.createElement('div'))
  await vi.waitFor(() => { expect([...view.held.value]).toEqual(['1', '2']) })
  const flip = (id: string, on: boolean) => { view.held.value = changed(view.held.value, [permission(id)], on) }
  return { view, flip, reload: () => queryClient.invalidateQueries(), leave: () => { app.unmount() } }
}

test('only the own changes are applied to what others have changed since', () => {
  expect([...rebased(new Set(['2', '5']), new Set(['1', '2', '3']), new Set(['1', '3', '4']))]).toEqual(['5', '4'])
})

test('a save keeps what a colleague has withdrawn and granted, and says so', async () => {
  const { view, flip, leave } = await page()
  flip('3', true)
  server.ids = ['2', '9'] // a colleague withdraws 1 and grants 9
  view.save()
  await vi.waitFor(() => { expect(server.ids).toEqual(['2', '9', '3']) })
  await vi.waitFor(() => { expect(notice.value?.text).toContain('Someone else') })
  await vi.waitFor(() => { expect([...view.held.value]).toEqual(['2', '9', '3']) })
  expect(view.changes.value).toBe(0)
  leave()
})

test('a save without other changes says only that it was saved', async () => {
  const { view, flip, leave } = await page()
  flip('1', false)
  view.save()
  await vi.waitFor(() => { expect(notice.value?.text).toMatch(/saved\.$/) })
  expect(server.ids).toEqual(['2'])
  leave()
})

test('the own changes stay when the page reads the role again', async () => {
  const { view, flip, reload, leave } = await page()
  flip('3', true)
  server.ids = ['1']
  await reload()
  await vi.waitFor(() => { expect([...view.held.value]).toEqual(['1', '3']) })
  expect(view.changes.value).toBe(1)
  leave()
})

test('nothing is saved if the role cannot be read again', async () => {
  const { view, flip, leave } = await page()
  flip('3', true)
  server.status = 503
  view.save()
  await vi.waitFor(() => { expect(notice.value?.bad).toBe(true) })
  expect(server.ids).toEqual(['1', '2'])
  expect(view.changes.value).toBe(1)
  leave()
})
