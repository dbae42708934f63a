import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { Account, Grant } from './dto'
import { sessions, tokens } from './api'

const grantOf = (id: string, n = 1) => ({
  accessToken: `access ${id}.${String(n)}`, refreshToken: `refresh ${id}.${String(n)}`, expiresIn: 300, user: { id } as Account,
}) as Grant
const replyOf = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })
const send = vi.fn<(path: string, bearer: string | null) => Response>()

beforeEach(() => {
  vi.stubGlobal('fetch', (request: Request) =>
    Promise.resolve(send(new URL(request.url).pathname, request.headers.get('Authorization'))))
  send.mockReset()
  tokens.forget()
  tokens.take(grantOf('7'))
})
afterEach(() => {
  vi.unstubAllGlobals()
})

const sentTo = (path: string) => send.mock.calls.filter(([to]) => to === path).map(([, bearer]) => bearer)
const refused = () => replyOf({ code: 'unauthenticated' }, 401)

test('a refused request is sent again with a new token', async () => {
  send.mockImplementation((path, bearer) => {
    if (path === '/auth/refresh') return replyOf(grantOf('7', 2))
    return bearer === 'Bearer access 7.2' ? replyOf({ items: [{ id: '1' }] }) : refused()
  })
  expect(await sessions()).toEqual([{ id: '1' }])
  expect(sentTo('/me/sessions')).toEqual(['Bearer access 7.1', 'Bearer access 7.2'])
})

test.each(['before the answer', 'during the renewal'])('a request is not sent again with the token of another member, who logs in %s', async (when) => {
  const during = when === 'during the renewal'
  send.mockImplementation((path) => {
    const renewal = path === '/auth/refresh'
    if (renewal === during) localStorage.setItem('comanda.member', JSON.stringify({ refreshToken: 'refresh 8.1', userId: '8' })) // in another tab
    if (!renewal) return refused()
    return during && sentTo(path).length === 1 ? replyOf({ code: 'refresh_token_invalid' }, 401) : replyOf(grantOf('8'))
  })
  await expect(sessions()).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(sentTo('/me/sessions')).toEqual(['Bearer access 7.1'])
})
