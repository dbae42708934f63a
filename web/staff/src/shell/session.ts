import { computed, shallowRef } from 'vue'

import { answer, newClient, type Answer } from '@shared/api/client'
import { Fault, isFault } from '@shared/api/fault'
import type { components, paths } from '@shared/api/schema'
import { localeOf } from '@shared/i18n/languages'
import { AccessToken, RefreshFlight, refreshTimeout, sendRefresh, type TokenPair } from '@shared/refresh'
import { language } from './i18n'
import { onKept, recall, remember } from './kept'

type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A route of the API, such as `GET /api/tables`; the same words are the permission to use it. */
export type Route = {
  [P in keyof paths]: { [V in Verb]: [NonNullable<paths[P][V]>] extends [never] ? never : `${Uppercase<V>} ${P}` }[Verb]
}[keyof paths]

type Account = components['schemas']['IdentityAccount']

/** Who is logged in on this device. */
export interface Person {
  account: Account
  may: ReadonlySet<string>
}

// The access token lives as long as the page, some minutes at a time. The refresh token outlives a reload and is shared
// by all tabs, because each spends the one before: it is good once.
//
// Colleagues take over at a device by PIN, one after the other. Each gets a session of their own, and the refresh token of
// whoever logged in here by password is put aside meanwhile. It is spent for a new one whenever the colleague's is, because
// a session that says nothing for half an hour ends. Going back, logging out as a colleague, or the end of a colleague's
// session ends that session alone and takes up the one that was put aside; only its owner's logging out ends it too. So
// nobody stays logged in by a PIN for longer than the device's owner, and what a colleague may do ends with the colleague.
const refreshKey = 'refresh'
const asideKey = 'refresh.aside'
const asideNameKey = 'refresh.aside.name'
const access = new AccessToken()
const someone = shallowRef<Person>()

export const person = computed(() => someone.value)

/** Whether the person who is logged in may use all of some routes. */
export function can(...routes: Route[]): boolean {
  return routes.every((r) => someone.value?.may.has(r) ?? false)
}

export const api = newClient(() => ({
  'Accept-Language': localeOf(language.value),
  ...(access.bearer ? bearerNow() : {}),
}))

const brief = newClient(() => ({ 'Accept-Language': localeOf(language.value) }), refreshTimeout)

interface Grant extends TokenPair {
  user: Account
}

function take(grant: Grant): Account {
  access.set(grant)
  remember(refreshKey, grant.refreshToken)
  return grant.user
}

async function admit(account: Account): Promise<void> {
  const before = someone.value?.account.id
  const { permissions } = await answer(api.GET('/me/permissions'))
  const may = new Set<string>(permissions ?? [])
  // A member of the house's guests has nothing to do here.
  if (![...may].some((p) => p.includes(' /api/'))) {
    await logout()
    throw new Fault('not_staff', 403)
  }
  someone.value = { account, may }
  if (before !== undefined && before !== account.id) tellLeavers()
}

/** Logs in by e-mail address or username. */
export async function login(name: string, password: string): Promise<void> {
  const who = name.includes('@') ? { email: name.trim() } : { username: name.trim() }
  await admit(take(await answer(api.POST('/auth/login', { body: { ...who, password } }))))
}

/** Goes on with the session of this device, if it has one that still lives. */
export async function resume(): Promise<boolean> {
  await flight.running?.catch(() => undefined) // one that fails has removed the token that it could not spend
  if (someone.value) return true
  if (!recall(refreshKey)) return false
  try {
    await admit(await renew())
    return true
  } catch (e) {
    if (isFault(e) && e.passing) throw e
    return false
  }
}

/** Whether this device keeps a session, which may have ended meanwhile. */
export function keepsSession(): boolean {
  return recall(refreshKey) !== null
}

/**
 * Ends the session, on the server as far as it can be reached and on this device at any rate. After a colleague's, the
 * device goes on as whoever has logged in at it.
 */
export async function logout(): Promise<void> {
  const farewell = sayFarewell()
  leave()
  await farewell
}

/** Ends the session of the present tokens on the server; if that fails, it ends by itself after half an hour. */
function sayFarewell(): Promise<unknown> {
  return answer(api.POST('/auth/logout', { body: { refreshToken: recall(refreshKey) ?? '' } })).catch(() => undefined)
}

/** The name of whoever logged in at the device, while a colleague works at it. */
export function asideName(): string | null {
  return recall(asideKey) === null ? null : (recall(asideNameKey) ?? '')
}

/** Goes on as a colleague. The session of whoever logged in here is put aside, that of another colleague ends. */
export async function takeOver(userId: string, pin: string): Promise<void> {
  const grant = await ask(() => api.POST('/auth/pin', { body: { userId, pin } }))
  if (recall(asideKey) === null) {
    remember(asideNameKey, nameOf(person.value?.account))
    remember(asideKey, recall(refreshKey))
  } else {
    await sayFarewell()
  }
  try {
    await admit(take(grant))
  } catch (e) {
    leave()
    throw e
  }
}

/** What somebody is called here. */
export function nameOf(a: Account | undefined): string {
  return [a?.firstName, a?.surname].filter(Boolean).join(' ') || a?.email || a?.username || ''
}

const leavers = new Set<() => void>()

/** Calls back when nobody is logged in any more, or somebody else is. */
export function onLeave(left: () => void): void {
  leavers.add(left)
}

function leave(): void {
  access.clear()
  // What was put aside is taken up by the next call of resume.
  remember(refreshKey, recall(asideKey))
  remember(asideKey, null)
  remember(asideNameKey, null)
  someone.value = undefined
  tellLeavers()
}

function tellLeavers(): void {
  for (const left of leavers) left()
}

onKept(refreshKey, (value) => {
  if (value === null && someone.value) leave()
})

const flight = new RefreshFlight('comanda.staff.refresh', spend)

/** Spends the refresh token for a new pair. */
export const renew = () => flight.run()

/** Returns the new pair for a refresh token. */
function refreshed(refreshToken: string): Promise<Grant> {
  return sendRefresh(() => answer(brief.POST('/auth/refresh', { body: { refreshToken } })))
}

async function spend(): Promise<Account> {
  const refreshToken = recall(refreshKey)
  if (!refreshToken) throw new Fault('unauthenticated', 401)
  try {
    const account = take(await refreshed(refreshToken))
    await keepAside()
    // Another tab has gone on as somebody else.
    if (someone.value && someone.value.account.id !== account.id) await admit(account)
    return account
  } catch (e) {
    if (isFault(e) && e.status === 401) leave()
    throw e
  }
}

/** Keeps the session that was put aside alive. One that has ended meanwhile is nothing to go back to. */
async function keepAside(): Promise<void> {
  const refreshToken = recall(asideKey)
  if (!refreshToken) return
  try {
    remember(asideKey, (await refreshed(refreshToken)).refreshToken)
  } catch (e) {
    if (isFault(e) && e.status === 401) remember(asideKey, null)
  }
}

/** The Authorization header with a valid token. */
export async function bearer(): Promise<Record<string, string>> {
  if (!access.valid) await renew()
  return bearerNow()
}

/** The same without waiting, for streams, which read their headers at the moment of connecting. */
export function bearerNow(): Record<string, string> {
  return { Authorization: `Bearer ${access.bearer}` }
}

/**
 * Does a call with a good token and gives its answer, or throws a Fault. Who is refused nevertheless asks once more. What
 * one person has asked for is not done as the next.
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
