import { computed, shallowRef } from 'vue'

import { answer, newClient, type Answer } from '@shared/api/client'
import { Fault, isFault } from '@shared/api/fault'
import type { components, paths } from '@shared/api/schema'
import { localeOf } from '@shared/i18n/languages'
import { fullName } from '@shared/names'
import { AccessToken, RefreshFlight, refreshTimeout, sendRefresh, type TokenPair } from '@shared/refresh'
import { language } from './i18n'
import { abandon, interrupt, interrupted, proceed, untilProceeded } from './interruption'
import { onKept, recall, remember } from './storage'

type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A route of the API, such as `GET /api/tables`. The permission to use it has the same name. */
export type Route = {
  [P in keyof paths]: { [V in Verb]: [NonNullable<paths[P][V]>] extends [never] ? never : `${Uppercase<V>} ${P}` }[Verb]
}[keyof paths]

type Account = components['schemas']['Account']

/** The user who is logged in, and their permissions. */
export interface Person {
  account: Account
  may: ReadonlySet<string>
}

// The page stores the access token in memory; it is valid for a few minutes. The refresh token survives a reload and is
// shared by all tabs. It is valid once.
//
// Colleagues take over a device by PIN, one after the other. Each has a session of their own, while the refresh token of
// the device's owner, who logged in by password, is set aside. It is refreshed together with the colleague's token, because
// an idle session ends after half an hour. Switching back, a colleague's logout, or the end of a colleague's session
// returns to the owner's session. Only the owner's logout ends that session, so a PIN login never outlives it.
const refreshKey = 'refresh'
const userKey = 'refresh.user' // the id of the user of the refresh token
const asideKey = 'refresh.aside'
const asideNameKey = 'refresh.aside.name'
const asideUserKey = 'refresh.aside.user'
const access = new AccessToken()
const someone = shallowRef<Person>()

export const person = computed(() => someone.value)

/** Whether the user has the permissions of all these routes. */
export function can(...routes: Route[]): boolean {
  return routes.every((r) => someone.value?.may.has(r) ?? false)
}

export const api = newClient(() => ({
  'Accept-Language': localeOf(language.value),
  ...(access.bearer ? bearerNow() : {}),
}))

const anonymous = newClient(() => ({ 'Accept-Language': localeOf(language.value) }))
const brief = newClient(() => ({ 'Accept-Language': localeOf(language.value) }), refreshTimeout)

interface Grant extends TokenPair {
  user: Account
}

function take(grant: Grant): Account {
  access.set(grant)
  remember(userKey, grant.user.id) // before the token, whose change the other tabs notice
  remember(refreshKey, grant.refreshToken)
  return grant.user
}

async function admit(account: Account): Promise<void> {
  const before = someone.value?.account.id
  const { permissions } = await answer(api.GET('/me/permissions'))
  const may = new Set<string>(permissions ?? [])
  // Members without staff permissions have no access.
  if (![...may].some((p) => p.includes(' /api/'))) {
    await logout()
    throw new Fault('not_staff', 403)
  }
  someone.value = { account, may }
  proceed()
  if (before !== undefined && before !== account.id) notifyListeners()
}

/** Replaces the account of the user, whose name or username has changed. */
export function update(account: Account): void {
  if (someone.value?.account.id === account.id) someone.value = { account, may: someone.value.may }
}

/** Logs in by e-mail address or username. */
export async function login(name: string, password: string): Promise<void> {
  const who = name.includes('@') ? { email: name.trim() } : { username: name.trim() }
  await admit(take(await answer(api.POST('/auth/login', { body: { ...who, password } }))))
}

let resuming: Promise<boolean> | undefined

/** Restores the device's session, and reports whether it is still valid. Concurrent calls share one attempt. */
export function resume(): Promise<boolean> {
  resuming ??= restore().finally(() => {
    resuming = undefined
  })
  return resuming
}

async function restore(): Promise<boolean> {
  await flight.running?.catch(() => undefined) // a failed refresh has already removed its token
  if (someone.value) return true
  if (!recall(refreshKey)) return false
  try {
    await admit(await flight.run())
    return true
  } catch (e) {
    if (isFault(e) && e.passing) throw e
    return false
  }
}

/** Whether this device has a stored session, which may have ended. */
export function keepsSession(): boolean {
  return recall(refreshKey) !== null
}

/**
 * Ends the session on this device, and on the server if it can be reached. After a colleague's session, the device continues
 * with the owner's.
 */
export async function logout(): Promise<void> {
  const endRequest = endCurrentSession()
  leave()
  await endRequest
}

/**
 * Ends the session of the stored token on the server. If that fails, the session expires after half an hour. The access
 * token is not sent with it: if another tab has just switched the user, it is that of another session.
 */
function endCurrentSession(): Promise<unknown> {
  const refreshToken = recall(refreshKey)
  const client = refreshToken === null ? api : anonymous // without storage there is only the access token
  return answer(client.POST('/auth/logout', { body: { refreshToken: refreshToken ?? '' } })).catch(() => undefined)
}

/** The name of the device's owner while a colleague uses it, or null. */
export function deviceOwnerName(): string | null {
  return recall(asideKey) === null ? null : (recall(asideNameKey) ?? '')
}

/** Switches to a colleague. The owner's session is set aside; another colleague's session ends. */
export async function takeOver(userId: string, pin: string): Promise<void> {
  const grant = await ask(() => api.POST('/auth/pin', { body: { userId, pin } }))
  if (recall(asideKey) === null) {
    remember(asideNameKey, nameOf(person.value?.account))
    remember(asideUserKey, recall(userKey))
    remember(asideKey, recall(refreshKey))
  } else {
    await endCurrentSession()
  }
  try {
    await admit(take(grant))
  } catch (e) {
    leave()
    throw e
  }
}

/** A person's display name. */
export function nameOf(a: Account | undefined): string {
  return fullName(a) || a?.email || a?.username || ''
}

const leaveListeners = new Set<() => void>()

/** Calls back after a logout and after a change of the user. */
export function onLeave(left: () => void): void {
  leaveListeners.add(left)
}

function leave(): void {
  access.clear()
  // The next call of resume continues with the session that was set aside.
  const aside = recall(asideKey)
  remember(userKey, aside === null ? null : recall(asideUserKey))
  remember(refreshKey, aside)
  for (const key of [asideKey, asideNameKey, asideUserKey]) remember(key, null)
  someone.value = undefined
  abandon()
  notifyListeners()
}

function notifyListeners(): void {
  for (const left of leaveListeners) left()
}

onKept(refreshKey, (value) => {
  const [before, now] = [someone.value?.account.id, recall(userKey)]
  if (value === null && someone.value) {
    leave()
    return
  }
  const switched = before !== undefined && now !== null && now !== before // another tab has switched the user
  if (switched) access.clear()
  if (switched || interrupted.value) void flight.run().catch(() => undefined) // or the user has logged in there
})

const flight = new RefreshFlight('comanda.staff.refresh', spend)

/**
 * Exchanges the refresh token for a new pair of tokens. If the session has ended, it waits for the next login, without the
 * browser's lock: other tabs can log in, too.
 */
export async function renew(): Promise<void> {
  try {
    if (!interrupted.value) await flight.run()
  } catch (e) {
    if (!interrupted.value) throw e
  }
  await untilProceeded()
}

/** Returns the new pair of tokens for a refresh token. */
function refreshed(refreshToken: string): Promise<Grant> {
  return sendRefresh(() => answer(brief.POST('/auth/refresh', { body: { refreshToken } })))
}

async function spend(): Promise<Account> {
  const refreshToken = recall(refreshKey)
  if (!refreshToken) {
    if (someone.value) end() // the stored session was removed, such as with the site's data
    throw new Fault('unauthenticated', 401)
  }
  try {
    const account = take(await refreshed(refreshToken))
    await keepAside()
    if (someone.value?.account.id === account.id) update(account)
    else if (someone.value) await admit(account) // another tab has switched the user
    proceed()
    return account
  } catch (e) {
    if (isFault(e) && e.status === 401) end()
    throw e
  }
}

/**
 * Ends a session that the server has ended. The device of a colleague continues with its owner's session. The owner at work
 * keeps the page; the stored token stays with it, because the other tabs leave their pages without one.
 */
function end(): void {
  if (!someone.value || recall(asideKey) !== null) {
    leave()
    return
  }
  access.clear()
  interrupt()
}

/** Refreshes the session that was set aside, and removes one that has ended. */
async function keepAside(): Promise<void> {
  const refreshToken = recall(asideKey)
  if (!refreshToken) return
  try {
    remember(asideKey, (await refreshed(refreshToken)).refreshToken)
  } catch (e) {
    if (isFault(e) && e.status === 401) remember(asideKey, null)
  }
}

/** The Authorization header with a valid token, refreshed if necessary. */
export async function bearer(): Promise<Record<string, string>> {
  if (!access.valid || interrupted.value) await renew()
  return bearerNow()
}

/** The Authorization header with the current token, without waiting: streams read their headers when they connect. */
export function bearerNow(): Record<string, string> {
  return { Authorization: `Bearer ${access.bearer}` }
}

/**
 * Sends a request with a valid token and returns its answer, or throws a Fault. A refused request is repeated once with a
 * new token. A request of one user is never sent with another user's token.
 */
export async function ask<T>(call: () => Promise<Answer<T>>): Promise<T> {
  const asking = someone.value?.account.id
  const stay = () => {
    if (someone.value?.account.id !== asking) throw new Fault('unauthenticated', 401)
  }
  await bearer()
  stay()
  try {
    return await answer(call())
  } catch (e) {
    if (!isFault(e) || e.status !== 401) throw e
    await renew()
    stay()
    return answer(call())
  }
}
