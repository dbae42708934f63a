import { QueryObserver } from '@tanstack/vue-query'
import { expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'
import { language, setLanguage } from '@shared/i18n/catalogue'
import { everyPage, queries } from './query'

const ok = new Response()
const page = (items: number[], total: number) => Promise.resolve({ data: { items, total }, response: ok })

test('all pages of a list are read', async () => {
  const asked: number[] = []
  const list = await everyPage((n) => {
    asked.push(n)
    return page([[1, 2], [3, 4], [5]][n - 1] ?? [], 5)
  })
  expect(list.data).toEqual({ items: [1, 2, 3, 4, 5], total: 5 })
  expect(asked).toEqual([1, 2, 3])
})

test('reading ends if the list became shorter in the meantime', async () => {
  const list = await everyPage((n) => page(n === 1 ? [1, 2] : [], 3))
  expect(list.data?.items).toEqual([1, 2])
})

test('a refused page fails the whole list', async () => {
  const refused = { error: {}, response: new Response(null, { status: 503 }) }
  const list = await everyPage<{ items: number[]; total: number }>((n) => (n === 1 ? page([1], 2) : Promise.resolve(refused)))
  expect(list.response.status).toBe(503)
})

test('what could not be read during an outage is read when the server is back', async () => {
  vi.useFakeTimers()
  let up = false
  const read = <T>(value: T) => (up ? Promise.resolve(value) : Promise.reject(new Fault('offline')))
  vi.stubGlobal('fetch', () => read(new Response()))
  const observer = new QueryObserver(queries, { queryKey: ['tables'], queryFn: () => read('a table') })
  const stop = observer.subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(observer.getCurrentResult().error).toMatchObject({ code: 'offline' })
  up = true
  await vi.advanceTimersByTimeAsync(10_000)
  expect(observer.getCurrentResult()).toMatchObject({ data: 'a table', error: null })
  stop()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

test('what is shown is read again in another language', async () => {
  await setLanguage('en')
  const read = () => Promise.resolve(language.value)
  queries.setQueryData(['audit'], 'en') // another page's
  const list = new QueryObserver(queries, { queryKey: ['colleagues'], queryFn: read, staleTime: Infinity })
  const stop = list.subscribe(() => undefined)
  await vi.waitFor(() => {
    expect(list.getCurrentResult().data).toBe('en')
  })
  await setLanguage('vi')
  await vi.waitFor(() => {
    expect(list.getCurrentResult().data).toBe('vi')
  })
  expect(queries.getQueryState(['audit'])?.isInvalidated).toBe(true)
  stop()
})
