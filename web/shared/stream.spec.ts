import { afterEach, expect, test, vi } from 'vitest'

import { EventParser, follow, type StreamEvent } from './stream'

test('events are parsed correctly from any chunks', () => {
  const text = 'id: 1\nevent: order\ndata: {"a":1}\n\n: beat\n\nid: 2\ndata: x\ndata: y\n\nid: 3\ndata: half'
  const want = [
    { id: '1', name: 'order', data: '{"a":1}' },
    { id: '2', name: 'message', data: 'x\ny' },
  ]
  for (let size = 1; size <= text.length; size++) {
    const parser = new EventParser()
    const got: StreamEvent[] = []
    for (let i = 0; i < text.length; i += size) got.push(...parser.push(text.slice(i, i + size)))
    expect(got).toEqual(want)
  }
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** A fake server that responds with these bodies in order and records the requests. */
function serve(...answers: (() => Response)[]): Headers[] {
  const asked: Headers[] = []
  vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
    asked.push(new Headers(init.headers))
    const next = answers.shift()
    return next ? Promise.resolve(next()) : new Promise(() => undefined)
  })
  return asked
}

test('a lost connection continues after the last event', async () => {
  vi.useFakeTimers()
  const asked = serve(
    () => new Response('id: 7\ndata: one\n\n'),
    () => new Response('id: 8\ndata: two\n\n'),
  )
  const seen: string[] = []
  const end = follow({ url: '/s', headers: () => ({ 'X-Customer-Token': 't' }), onEvent: (e) => seen.push(e.data) })
  await vi.advanceTimersByTimeAsync(5000)
  end()
  expect(seen).toEqual(['one', 'two'])
  expect(asked[1]?.get('Last-Event-ID')).toBe('7')
  expect(asked[1]?.get('X-Customer-Token')).toBe('t')
})

test('a refusal ends the stream and reports the reason', async () => {
  vi.useFakeTimers()
  const asked = serve(() => Response.json({ code: 'visit_closed' }, { status: 410 }))
  const refused = vi.fn()
  follow({ url: '/s', headers: () => ({}), onEvent: () => undefined, onRefused: refused })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(refused).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'visit_closed', status: 410 }))
  expect(asked).toHaveLength(1)
})

test('the stream reconnects to a server that was down', async () => {
  vi.useFakeTimers()
  const asked = serve(
    () => new Response('', { status: 503 }),
    () => new Response('data: back\n\n'),
  )
  const live: boolean[] = []
  const seen: string[] = []
  const end = follow({ url: '/s', headers: () => ({}), onEvent: (e) => seen.push(e.data), onLive: (l) => live.push(l) })
  await vi.advanceTimersByTimeAsync(3000)
  end()
  expect(seen).toEqual(['back'])
  expect(live).toEqual([false, true, false])
  expect(asked.length).toBeGreaterThanOrEqual(2)
})
