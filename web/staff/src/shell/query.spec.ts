import { expect, test } from 'vitest'

import { everyPage } from './query'

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
