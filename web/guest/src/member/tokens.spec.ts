import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'

import type { Grant } from './dto'
import { keptKey, Tokens } from './tokens'

const grant = (n: number, userId = '7'): Grant =>
  ({ accessToken: `access ${String(n)}`, expiresIn: 600, refreshToken: `refresh ${String(n)}`, user: { id: userId } }) as Grant

/** A fake server of logins: each refresh token is valid once, and once more for a client that lost the response. */
class Server {
  n = 1
  asked: string[] = []
  lose = 0 // answers
  ended = false

  spend = (refreshToken: string): Promise<Grant> => {
    this.asked.push(refreshToken)
    if (this.ended || ![`refresh ${String(this.n)}`, `refresh ${String(this.n - 1)}`].includes(refreshToken)) {
      return Promise.reject(new Fault('refresh_token_invalid', 401))
    }
    if (refreshToken === `refresh ${String(this.n)}`) this.n++
    return this.lose-- > 0 ? Promise.reject(new Fault('offline')) : Promise.resolve(grant(this.n))
  }
}

let clock = 0
const tab = (server: Server) => new Tokens({ spend: server.spend, now: () => clock, pause: 0 })

/** Behaves like the locks of browsers: a request waits for the current holder. */
function stubLocks(): void {
  let turn: Promise<unknown> = Promise.resolve()
  vi.stubGlobal('navigator', {
    locks: {
      request: (_: string, what: () => Promise<unknown>) => {
        const mine = turn.then(what)
        turn = mine.catch(() => undefined)
        return mine
      },
    },
  })
}

beforeEach(() => {
  clock = 0
  localStorage.clear()
  stubLocks()
})
afterEach(() => {
  vi.unstubAllGlobals()
})

test('the access token is kept in memory, the refresh token for all tabs', async () => {
  const t = tab(new Server())
  expect(await t.valid()).toBe('')
  t.take(grant(1))
  expect(await t.valid()).toBe('access 1')
  expect(localStorage.getItem(keptKey)).toBe('{"refreshToken":"refresh 1","userId":"7"}')
  expect(JSON.stringify({ ...localStorage })).not.toContain('access')
})

test('concurrent requests share one refresh of an expired token', async () => {
  const server = new Server()
  const t = tab(server)
  t.take(grant(1))
  clock = 569_000
  expect(await t.valid()).toBe('access 1')
  clock = 571_000 // a token is not sent in its last half minute
  expect(await Promise.all([t.valid(), t.valid(), t.valid()])).toEqual(['access 2', 'access 2', 'access 2'])
  expect(server.asked).toEqual(['refresh 1'])
})

test('tabs refresh one after the other, each with the newest token', async () => {
  const server = new Server()
  const [one, other, third] = [tab(server), tab(server), tab(server)]
  one.take(grant(1))
  await Promise.all([one.renew(), other.renew(), third.renew()])
  expect(server.asked).toEqual(['refresh 1', 'refresh 2', 'refresh 3'])
  expect(third.refreshToken).toBe('refresh 4')
})

test('without locks the slower tab uses the tokens of the faster one', async () => {
  vi.stubGlobal('navigator', {})
  const server = new Server()
  const [one, other] = [tab(server), tab(server)]
  one.take(grant(1))
  await Promise.all([one.renew(), other.renew()])
  expect(server.asked).toEqual(['refresh 1', 'refresh 1'])
  expect([one.bearer, other.bearer]).toEqual(['access 2', 'access 2'])
})

test('a refresh whose answer was lost is repeated at once with the same token', async () => {
  const server = new Server()
  server.lose = 2
  const t = tab(server)
  t.take(grant(1))
  await t.renew()
  expect(server.asked).toEqual(['refresh 1', 'refresh 1', 'refresh 1'])
  expect(t.refreshToken).toBe('refresh 2')
})

test('an unreachable server does not end the login', async () => {
  const server = new Server()
  server.lose = 9
  const t = tab(server)
  t.take(grant(1))
  await expect(t.renew()).rejects.toMatchObject({ code: 'offline' })
  expect(t.holder).toBe('7')
})

test('a login that the server has ended is removed and reported', async () => {
  const server = new Server()
  server.ended = true
  const t = tab(server)
  t.onLost = vi.fn()
  t.take(grant(1))
  expect(await t.renew()).toBeUndefined()
  expect(t.onLost).toHaveBeenCalledOnce()
  expect(localStorage.getItem(keptKey)).toBeNull()
  expect(await t.valid()).toBe('')
})

test('a refresh that ends after a logout does not log in again', async () => {
  const server = new Server()
  const t = tab(server)
  t.take(grant(1))
  const renewing = t.renew()
  t.forget()
  await renewing
  expect(t.bearer).toBe('')
  expect(localStorage.getItem(keptKey)).toBeNull()
})

test('a refused token that was already replaced causes no second refresh', async () => {
  const server = new Server()
  const t = tab(server)
  t.take(grant(1))
  await t.renew('access 1')
  await t.renew('access 1')
  expect(server.asked).toEqual(['refresh 1'])
})

test.each(['', 'null', '7', '{}', '{"refreshToken":7,"userId":"7"}', '{"refreshToken":"x"}'])('the stored value %j is no login', (kept) => {
  localStorage.setItem(keptKey, kept)
  expect(tab(new Server()).holder).toBeUndefined()
})
