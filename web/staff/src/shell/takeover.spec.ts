import { afterEach, beforeEach, expect, test, vi } from 'vitest'

type Session = typeof import('./session')

interface Living {
  user: string
  refresh: string
  access: string[] // an access token stays valid when its session is renewed
}

/** A fake server with several sessions, each with its own tokens. A refresh token is valid once. */
class Backend {
  sessions: Living[] = []
  asked: string[] = []
  broken = false // permissions cannot be loaded
  private made = 0

  readonly fetch = async (request: Request): Promise<Response> => {
    const path = new URL(request.url, 'http://backend').pathname
    const bearer = request.headers.get('Authorization')?.slice('Bearer '.length)
    const body = request.method === 'POST' ? ((await request.json()) as Record<string, string>) : {}
    const by = this.sessions.find((s) => bearer !== undefined && s.access.includes(bearer))
    this.asked.push(`${by?.user ?? '-'} ${path}`)
    if (path === '/auth/login') return this.begin('owner')
    if (path === '/auth/refresh') return this.renew(body.refreshToken)
    if (path === '/auth/logout') return this.end((by ?? this.sessions.find((s) => s.refresh === body.refreshToken))?.user ?? '')
    if (!by) return this.refuse(401, 'unauthenticated')
    if (path === '/auth/pin') return body.pin === '4071' ? this.begin(body.userId ?? '') : this.refuse(403, 'pin_wrong')
    if (this.broken) return this.refuse(503, 'unavailable')
    return Response.json(path === '/me/permissions' ? { permissions: ['GET /api/tables'] } : { by: by.user })
  }

  end(user: string): Response {
    this.sessions = this.sessions.filter((s) => s.user !== user)
    return new Response(null, { status: 204 })
  }

  private begin(user: string): Response {
    this.sessions.push({ user, refresh: '', access: [] })
    return this.grant(user)
  }

  private renew(token: string | undefined): Response {
    const s = this.sessions.find((l) => l.refresh === token)
    return s ? this.grant(s.user) : this.refuse(401, 'refresh_token_invalid')
  }

  private grant(user: string): Response {
    const s = this.sessions.find((l) => l.user === user)
    if (!s) return this.refuse(401, 'unauthenticated')
    const n = String(++this.made)
    s.refresh = `r${n}`
    s.access.push(`a${n}`)
    return Response.json({ accessToken: `a${n}`, expiresIn: 600, refreshToken: s.refresh, user: { id: user, username: user, role: 'STAFF' } })
  }

  private refuse(status: number, code: string): Response {
    return Response.json({ code }, { status, headers: { 'Content-Type': 'application/problem+json' } })
  }
}

let backend: Backend
let session: Session
let listeners: ((e: StorageEvent) => void)[]

beforeEach(async () => {
  vi.resetModules()
  localStorage.clear()
  backend = new Backend()
  vi.stubGlobal('fetch', backend.fetch)
  listeners = []
  vi.stubGlobal('addEventListener', (type: string, listener: (e: StorageEvent) => void) => {
    if (type === 'storage') listeners.push(listener)
  })
  session = await import('./session')
  await session.login('owner', 'right')
})

afterEach(() => {
  vi.unstubAllGlobals()
})

const who = () => session.person.value?.account.id
const tables = () => session.ask(() => session.api.GET('/api/tables', { params: { query: {} } }))

test('a takeover notifies all listeners; switching back continues the owner’s session', async () => {
  const told = vi.fn()
  session.onLeave(told)
  await session.takeOver('lan', '4071')
  expect(who()).toBe('lan')
  expect(session.deviceOwnerName()).toBe('owner')
  expect(told).toHaveBeenCalledOnce()
  await expect(tables()).resolves.toEqual({ by: 'lan' })
  await session.logout()
  await expect(session.resume()).resolves.toBe(true)
  expect(who()).toBe('owner')
  expect(session.deviceOwnerName()).toBeNull()
  expect(backend.sessions.map((s) => s.user)).toEqual(['owner'])
  await expect(tables()).resolves.toEqual({ by: 'owner' })
})

test('a wrong PIN changes nothing', async () => {
  const before = { ...localStorage }
  await expect(session.takeOver('lan', '0000')).rejects.toMatchObject({ code: 'pin_wrong' })
  expect(who()).toBe('owner')
  expect({ ...localStorage }).toEqual(before)
  await expect(tables()).resolves.toEqual({ by: 'owner' })
})

test('a second takeover ends the first colleague’s session and keeps the owner’s', async () => {
  await session.takeOver('lan', '4071')
  await session.takeOver('minh', '4071')
  expect(who()).toBe('minh')
  expect(session.deviceOwnerName()).toBe('owner')
  expect(backend.sessions.map((s) => s.user).sort()).toEqual(['minh', 'owner'])
})

test('a reload keeps the colleague’s session and the owner’s set-aside one', async () => {
  await session.takeOver('lan', '4071')
  vi.resetModules()
  session = await import('./session')
  await expect(session.resume()).resolves.toBe(true)
  expect(who()).toBe('lan')
  await session.logout()
  await session.resume()
  expect(who()).toBe('owner')
})

test('the set-aside session is refreshed', async () => {
  await session.takeOver('lan', '4071')
  const before = backend.sessions.find((s) => s.user === 'owner')?.refresh
  await session.renew()
  expect(backend.sessions.find((s) => s.user === 'owner')?.refresh).not.toBe(before)
  expect(who()).toBe('lan')
  await session.logout()
  await session.resume()
  expect(who()).toBe('owner')
})

test('after the end of a colleague’s session the device continues as its owner, but drops the colleague’s request', async () => {
  await session.takeOver('lan', '4071')
  backend.end('lan')
  let resumed: Promise<boolean> | undefined
  session.onLeave(() => (resumed ??= session.resume()))
  await expect(tables()).rejects.toMatchObject({ status: 401 })
  await expect(resumed).resolves.toBe(true)
  expect(who()).toBe('owner')
  expect(backend.asked).not.toContain('owner /api/tables')
})

test('without a set-aside session, the end of the session logs out', async () => {
  await session.takeOver('lan', '4071')
  backend.end('owner')
  await session.renew()
  expect(session.deviceOwnerName()).toBeNull()
  await session.logout()
  await expect(session.resume()).resolves.toBe(false)
  expect(backend.sessions).toEqual([])
})

test('a takeover fails if the colleague’s permissions cannot be loaded', async () => {
  backend.broken = true
  await expect(session.takeOver('lan', '4071')).rejects.toMatchObject({ code: 'unavailable' })
  backend.broken = false
  await expect(session.resume()).resolves.toBe(true)
  expect(who()).toBe('owner')
})

test('the owner’s logout ends all sessions of the device', async () => {
  await session.logout()
  expect(localStorage.length).toBe(0)
  expect(backend.sessions).toEqual([])
})

/** Another tab of this device. */
async function tab(): Promise<Session> {
  vi.resetModules()
  const other = await import('./session')
  await other.resume()
  return other
}

/** Tells the tabs of a change of the refresh token. */
function tell(): void {
  const key = 'comanda.staff.refresh'
  for (const l of listeners) l(new StorageEvent('storage', { key, newValue: localStorage.getItem(key) }))
}

test('a tab continues as the colleague to whom another tab has switched', async () => {
  const other = await tab()
  const left = vi.fn()
  other.onLeave(left)
  await session.takeOver('lan', '4071')
  tell()
  await vi.waitFor(() => { expect(other.person.value?.account.id).toBe('lan') })
  expect([who(), left.mock.calls.length]).toEqual(['lan', 1])
  await other.logout()
  expect(backend.sessions.map((s) => s.user)).toEqual(['owner'])
  tell()
  await vi.waitFor(() => { expect(who()).toBe('owner') })
})

test('a logout ends the stored session, although this tab does not know yet that another one has switched the user', async () => {
  const other = await tab()
  await session.takeOver('lan', '4071')
  expect(other.person.value?.account.id).toBe('owner')
  await other.logout()
  expect(backend.sessions.map((s) => s.user)).toEqual(['owner'])
  await expect(other.resume()).resolves.toBe(true)
  expect(other.person.value?.account.id).toBe('owner')
})

test('a renewal of the same user’s token does not make the other tabs renew theirs', async () => {
  const other = await tab()
  backend.asked.length = 0
  await session.renew()
  tell()
  await Promise.resolve()
  expect(backend.asked).toEqual(['- /auth/refresh'])
  expect(other.person.value?.account.id).toBe('owner')
})
