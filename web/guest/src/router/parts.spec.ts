import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'

import { missingPart, waitForParts } from '@shared/parts'

import { offline, whenReachable } from '../shell/connection'
import { fetchAll } from './parts'

const page = { template: '<p />' }
const away = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module'))
const part = vi.fn<() => Promise<typeof page>>()
const server = vi.fn<() => Promise<Response>>()
const assign = vi.fn()

let router: Router

beforeEach(async () => {
  vi.useFakeTimers()
  vi.stubGlobal('fetch', server)
  vi.stubGlobal('location', { ...location, assign })
  part.mockReset().mockImplementation(away)
  server.mockReset().mockResolvedValue(new Response(null))
  assign.mockReset()
  offline.value = false
  router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/', component: page }, { path: '/visit', component: part }, { path: '/other', component: page }],
  })
  waitForParts(router, whenReachable)
  await router.push('/')
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a screen that could not be loaded opens when the server is back, without leaving the app', async () => {
  server.mockRejectedValueOnce(new TypeError('Failed to fetch'))
  await router.push('/visit').catch(() => undefined)
  expect(missingPart.value).toBe(true)
  expect(router.currentRoute.value.path).toBe('/')
  await vi.advanceTimersByTimeAsync(1000)
  expect(offline.value).toBe(true)
  part.mockResolvedValue(page)
  await vi.advanceTimersByTimeAsync(2000)
  expect(router.currentRoute.value.path).toBe('/visit')
  expect([missingPart.value, offline.value]).toEqual([false, false])
  expect(assign).not.toHaveBeenCalled()
})

test('a guest who has gone to another screen in the meantime stays there', async () => {
  await router.push('/visit').catch(() => undefined)
  await router.push('/other')
  expect(missingPart.value).toBe(false)
  part.mockResolvedValue(page)
  await vi.advanceTimersByTimeAsync(5000)
  expect(router.currentRoute.value.path).toBe('/other')
})

test('if a new release lacks the part, its page is loaded', async () => {
  await router.push('/visit').catch(() => undefined)
  await vi.advanceTimersByTimeAsync(1000)
  expect(assign).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1000)
  expect(assign.mock.calls).toEqual([['/visit']])
})

test('a screen whose styles could not be loaded waits for them', async () => {
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  document.head.append(link)
  link.dispatchEvent(new Event('error'))
  part.mockResolvedValue(page)
  const opened = router.push('/visit')
  await vi.advanceTimersByTimeAsync(1)
  const again = document.head.querySelector('link[rel=stylesheet]')
  expect(again).not.toBe(link)
  expect(router.currentRoute.value.path).toBe('/')
  again?.dispatchEvent(new Event('load'))
  await opened
  expect(router.currentRoute.value.path).toBe('/visit')
  again?.remove()
})

test('parts are fetched one after the other, and failed ones again when the server is back', async () => {
  const second = vi.fn(() => Promise.resolve())
  part.mockImplementationOnce(away).mockResolvedValue(page)
  const done = fetchAll([part, second])
  await vi.advanceTimersByTimeAsync(500)
  expect([part.mock.calls.length, second.mock.calls.length]).toEqual([1, 0])
  await vi.advanceTimersByTimeAsync(5000)
  await done
  expect([part.mock.calls.length, second.mock.calls.length]).toEqual([2, 1])
})
