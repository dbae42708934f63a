import { afterEach, beforeEach, expect, test, vi } from 'vitest'

type Session = typeof import('./session')
type Interruption = typeof import('./interruption')

/** A fake server with one valid refresh token at a time, which counts its requests. */
class Backend {
  good = 'r1'
  access = 'a1'
  asked: string[] = []
  permissions = ['GET /me', 'GET /api/tables']
  user = '1'
  username = 'cashier'
  lose = 0 // the number of refresh answers to lose
  private spent = ''

  readonly fetch = async (request: Request): Promise<Response> => {
    const path = new URL(request.url, 'http://backend').pathname
    this.asked.push(path)
    const body = request.method === 'POST' ? ((await request.json()) as Record<string, string>) : {}
    if (path === '/auth/login') return body.password === 'right' ? this.grant() : this.refuse('login_failed')
    if (path === '/auth/refresh') return this.refresh(body.refreshToken ?? '')
    if (request.headers.get('Authorization') !== `Bearer ${this.access}`) return this.refuse('unauthenticated')
    if (path === '/me/permissions') return Response.json({ permissions: this.permissions })
    return Response.json({ items: [], total: 0 })
  }

  /** A token is valid once; for the previous one the same response is repeated. */
  private refresh(token: string): Response {
    if (token !== this.good && token !== this.spent) return this.refuse('refresh_token_invalid')
    const given = token === this.spent ? this.pair() : this.grant()
    this.spent = token
    if (this.lose > 0) {
      this.lose--
      throw new TypeError('no answer')
    }
    return given
  }

  private grant(): Response {
    const n = Number(this.good.slice(1)) + 1
    this.good = `r${String(n)}`
    this.access = `a${String(n)}`
    return this.pair()
  }

  private pair(): Response {
    return Response.json({ accessToken: this.access, expiresIn: 600, refreshToken: this.good, user: { id: this.user, username: this.username, role: 'CASHIER' } })
  }

  private refuse(code: string): Response {
    return Response.json({ code }, { status: 401, headers: { 'Content-Type': 'application/problem+json' } })
  }
}

let backend: Backend
let session: Session
let interruption: Interruption

beforeEach(async () => {
  vi.resetModules()
  localStorage.clear()
  backend = new Backend()
  vi.stubGlobal('fetch', backend.fetch)
  session = await import('./session')
  interruption = await import('./interruption')
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const tables = () => session.ask(() => session.api.GET('/api/tables', { params: { query: {} } }))

test('a login loads the permissions of the role', async () => {
  await session.login('cashier', 'right')
  expect(session.person.value?.account.role).toBe('CASHIER')
  expect(session.can('GET /api/tables')).toBe(true)
  expect(session.can('POST /api/tables')).toBe(false)
  await expect(tables()).resolves.toEqual({ items: [], total: 0 })
})

test('a wrong password starts no session', async () => {
  await expect(session.login('cashier', 'wrong')).rejects.toMatchObject({ code: 'login_failed' })
  expect(session.person.value).toBeUndefined()
})

test('a member without staff permissions has no access', async () => {
  backend.permissions = ['GET /me', 'GET /cart']
  await expect(session.login('member', 'right')).rejects.toMatchObject({ code: 'not_staff' })
  expect(session.person.value).toBeUndefined()
  expect(localStorage.length).toBe(0)
})

test('concurrent requests share one refresh', async () => {
  await session.login('cashier', 'right')
  backend.access = 'another' // the page's token is refused from now on
  await Promise.all([tables(), tables(), tables()])
  expect(backend.asked.filter((p) => p === '/auth/refresh')).toHaveLength(1)
})

test('a reload continues with the stored token; a spent token logs out', async () => {
  await session.login('cashier', 'right')
  vi.resetModules()
  const again = await import('./session')
  await expect(again.resume()).resolves.toBe(true)
  backend.good = 'r99'
  vi.resetModules()
  const late = await import('./session')
  await expect(late.resume()).resolves.toBe(false)
  await expect(late.resume()).resolves.toBe(false)
  expect(localStorage.length).toBe(0)
})

test('the requests of a user whose session has ended wait for their next login', async () => {
  await session.login('cashier', 'right')
  const left = vi.fn()
  session.onLeave(left)
  backend.good = 'r99'
  backend.access = 'a99'
  const asked = Promise.all([tables(), tables()])
  await vi.waitFor(() => expect(interruption.interrupted.value).toBe(true))
  expect(session.person.value).toBeDefined()
  await expect(session.login('cashier', 'wrong')).rejects.toMatchObject({ code: 'login_failed' })
  expect(interruption.interrupted.value).toBe(true)
  await session.login('cashier', 'right')
  await expect(asked).resolves.toEqual([{ items: [], total: 0 }, { items: [], total: 0 }])
  expect(interruption.interrupted.value).toBe(false)
  expect(backend.asked.filter((p) => p === '/auth/refresh')).toHaveLength(1)
  expect(left).not.toHaveBeenCalled()
})

test('the requests of an ended session are not sent for another user, and fail when its user leaves', async () => {
  await session.login('cashier', 'right')
  backend.good = 'r99'
  backend.access = 'a99'
  const first = expect(tables()).rejects.toMatchObject({ status: 401 })
  await vi.waitFor(() => expect(interruption.interrupted.value).toBe(true))
  backend.user = '2'
  await session.login('manager', 'right')
  await first
  expect(backend.asked.filter((p) => p === '/api/tables')).toHaveLength(1)

  backend.good = 'r199'
  backend.access = 'a199'
  const second = expect(tables()).rejects.toMatchObject({ status: 401 })
  await vi.waitFor(() => expect(interruption.interrupted.value).toBe(true))
  await session.logout()
  await second
  expect(localStorage.length).toBe(0)
})

test('an unreachable server does not end the session', async () => {
  await session.login('cashier', 'right')
  vi.resetModules()
  const asked = vi.fn(() => Promise.reject(new TypeError('no network')))
  vi.stubGlobal('fetch', asked)
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const later = await import('./session')
  const resumed = expect(later.resume()).rejects.toMatchObject({ code: 'offline' })
  await vi.advanceTimersByTimeAsync(60_000)
  await resumed
  expect(asked).toHaveBeenCalledTimes(3)
  expect(later.keepsSession()).toBe(true)
})

test('a refresh whose answer was lost is repeated while the server repeats its answer', async () => {
  await session.login('cashier', 'right')
  backend.access = 'another'
  backend.lose = 2
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const asked = expect(tables()).resolves.toEqual({ items: [], total: 0 })
  await vi.advanceTimersByTimeAsync(2000)
  await asked
  expect(session.person.value).toBeDefined()
  expect(backend.asked.filter((p) => p === '/auth/refresh')).toHaveLength(3)
})

test('a logout removes all tokens, whatever the server answers', async () => {
  await session.login('cashier', 'right')
  const left = vi.fn()
  session.onLeave(left)
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')))
  await session.logout()
  expect(left).toHaveBeenCalledOnce()
  expect(session.person.value).toBeUndefined()
  expect(localStorage.length).toBe(0)
})

test('a changed username is known at once after a change of one’s own account, and at the next renewal after a colleague’s', async () => {
  await session.login('cashier', 'right')
  const account = session.person.value?.account
  if (!account) throw new Error('no account')
  session.update({ ...account, username: 'cashier-1' })
  expect(session.person.value?.account.username).toBe('cashier-1')
  session.update({ ...account, id: '2', username: 'another' })
  expect(session.person.value?.account.username).toBe('cashier-1')
  backend.username = 'cashier-2'
  await session.renew()
  expect(session.person.value?.account.username).toBe('cashier-2')
  expect(session.can('GET /api/tables')).toBe(true)
})

test('without storage a session is renewed, and lasts until the next reload', async () => {
  const blocked = () => { throw new DOMException('blocked', 'SecurityError') }
  vi.stubGlobal('localStorage', { getItem: blocked, setItem: blocked, removeItem: blocked })
  await session.login('cashier', 'right')
  for (const n of [1, 2]) {
    backend.access = `another${String(n)}` // the page's token is refused from now on
    await expect(tables()).resolves.toEqual({ items: [], total: 0 })
  }
  await session.logout()
  expect(session.keepsSession()).toBe(false)
})

test('a user whose stored session was removed is asked to log in again', async () => {
  await session.login('cashier', 'right')
  localStorage.clear()
  backend.access = 'another'
  const asked = tables()
  await vi.waitFor(() => expect(interruption.interrupted.value).toBe(true))
  await session.login('cashier', 'right')
  await expect(asked).resolves.toEqual({ items: [], total: 0 })
})
