import { newClient, type Answer } from '@shared/api/client'
import { Fault, isFault } from '@shared/api/fault'
import { acceptLanguage, language, localeOf } from '@shared/i18n'
import { wired, type Choice } from '@shared/options'
import { refreshTimeout } from '@shared/refresh'

import { answer } from '../api/answer'
import type { Menu, Method, Placed } from '../api/dto'
import type {
  Account, Basket, Changes, CheckedOut, Checkout, Credentials, GoogleCode, Grant, Kind, ListedOrder, MailChoices, MemberOrder, Branch, Purpose,
  Registration, Session,
} from './dto'
import type { Views } from '../menu/views'
import type { NoticePage, NoticeSource } from '../notices/source'
import type { LiveOrderSource } from '../order/useLiveOrder'
import type { Quoted } from '../pay/quote'
import { Tokens } from './tokens'

const spoken = (): Record<string, string> => ({ 'Accept-Language': acceptLanguage(language.value) })

/** Sends requests without a login. */
const open = newClient(spoken)

const brief = newClient(spoken, refreshTimeout)

export const tokens = new Tokens({
  spend: (refreshToken) => answer(brief.POST('/auth/refresh', { body: { refreshToken } })),
})

/** The headers of a member's requests. */
const memberHeaders = (): Record<string, string> => ({ ...spoken(), Authorization: `Bearer ${tokens.bearer}` })

/** Sends requests as the member. */
const client = newClient(memberHeaders)

/**
 * Sends a request as the member, and once more with a new token if the first was refused. A request of one member is never
 * sent with the token of another, who has logged in in the meantime.
 */
async function asMember<T>(send: () => Promise<Answer<T>>): Promise<T> {
  const asking = tokens.holder
  const stay = () => {
    if (tokens.holder !== asking) throw new Fault('unauthenticated', 401)
  }
  const sent = await tokens.valid()
  stay()
  if (!sent) throw new Fault('unauthenticated', 401)
  try {
    return await answer(send())
  } catch (e) {
    if (!isFault(e, 'unauthenticated')) throw e
    stay()
    await tokens.renew(sent)
    stay()
    if (!tokens.bearer) throw e
    return answer(send())
  }
}

// Login.

export function register(body: Registration): Promise<Account> {
  return answer(open.POST('/auth/register', { body }))
}

export function login(body: Credentials): Promise<Grant> {
  return answer(open.POST('/auth/login', { body }))
}

/** Google's page to log in. The browser gets a cookie, which finishGoogle needs. */
export function startGoogle(): Promise<{ url: string }> {
  return answer(open.POST('/auth/google/start'))
}

export function finishGoogle(body: GoogleCode): Promise<Grant> {
  return answer(open.POST('/auth/google/finish', { body }))
}

export function startGoogleLink(currentPassword: string): Promise<{ url: string }> {
  return asMember(() => client.POST('/me/google/start', { body: { currentPassword } }))
}

export function finishGoogleLink(body: GoogleCode): Promise<Account> {
  return asMember(() => client.POST('/me/google/finish', { body }))
}

export function disconnectGoogle(currentPassword: string): Promise<Account> {
  return asMember(() => client.POST('/me/google/unlink', { body: { currentPassword } }))
}

export function logout(refreshToken: string): Promise<unknown> {
  const headers = tokens.bearer ? { Authorization: `Bearer ${tokens.bearer}` } : {}
  return answer(brief.POST('/auth/logout', { params: { header: headers }, body: { refreshToken } }))
}

export function requestCode(purpose: Purpose, email: string): Promise<unknown> {
  return answer(open.POST('/auth/otp/request', { body: { purpose, email } }))
}

export function verifyEmail(email: string, code: string): Promise<unknown> {
  return answer(open.POST('/auth/otp/verify', { body: { purpose: 'VERIFY', email, code } }))
}

export function resetPassword(email: string, code: string, password: string): Promise<unknown> {
  return answer(open.POST('/auth/password/reset', { body: { email, code, password } }))
}

// The account.

export function changeMe(body: Changes): Promise<Account> {
  return asMember(() => client.PATCH('/me', { body }))
}

export function mailChoices(): Promise<MailChoices> {
  return asMember(() => client.GET('/me/mail'))
}

export function chooseMail(body: MailChoices): Promise<MailChoices> {
  return asMember(() => client.PUT('/me/mail', { body }))
}

/** Withdraws the consent to news with the token of an e-mail, without a login. */
export function unsubscribe(token: string): Promise<unknown> {
  return answer(open.POST('/auth/unsubscribe/{token}', { params: { path: { token } } }))
}

export function changePassword(currentPassword: string, newPassword: string): Promise<unknown> {
  return asMember(() => client.POST('/me/password', { body: { currentPassword, newPassword } }))
}

export function requestEmail(currentPassword: string, email: string): Promise<unknown> {
  return asMember(() => client.POST('/me/email', { body: { currentPassword, email } }))
}

export function changeEmail(email: string, code: string): Promise<Account> {
  return asMember(() => client.POST('/me/email/confirm', { body: { email, code: code.trim() } }))
}

export async function sessions(): Promise<Session[]> {
  return (await asMember(() => client.GET('/me/sessions'))).items ?? []
}

export function endSession(id: string): Promise<unknown> {
  return asMember(() => client.DELETE('/me/sessions/{id}', { params: { path: { id } } }))
}

// The member's history of dishes.

export function memberDishes(): Promise<{ seen: string[] | null; usual: string[] | null }> {
  return asMember(() => client.GET('/me/dishes'))
}

export function clearDishes(): Promise<unknown> {
  return asMember(() => client.DELETE('/me/dishes'))
}

/** Reports what a member has looked at in a branch. It arrives even if the page is being closed. */
export function sendViews(branchId: string, views: Views): Promise<unknown> {
  return asMember(() => client.POST('/me/views', { body: { branchId, ...views }, keepalive: true }))
}

// Menus and the cart.

export async function listBranches(): Promise<Branch[]> {
  return (await answer(open.GET('/branches'))).items ?? []
}

export function menuOf(branchId: string, locale = localeOf(language.value)): Promise<Menu> {
  const query = { locale }
  return answer(open.POST('/cis/menu/active', { params: { query }, body: { branchId } }))
}

/** The cart with the prices and the units left for a kind of order, or, for each dish, of the first menu that has units left. */
export function basket(kind?: Kind): Promise<Basket> {
  return asMember(() => client.GET('/cart', { params: { query: kind ? { kind } : {} } }))
}

/** Adds a dish, and returns its line with the quantity that it has now. */
export function addDish(
  dishId: string, quantity: number, branchId: string, choices: readonly Choice[] = [],
): Promise<{ id: string; quantity: number }> {
  const options = wired(choices)
  return asMember(() => client.POST('/cart/add-dish', { body: { dishId, quantity, branchId, ...(options.length && { options }) } }))
}

export function setQuantity(cartDetailId: string, quantity: number): Promise<unknown> {
  return asMember(() => client.PATCH('/cart/items/{cartDetailId}', { params: { path: { cartDetailId } }, body: { quantity } }))
}

export function removeDish(cartDetailId: string): Promise<Basket> {
  return asMember(() => client.DELETE('/cart/items/{cartDetailId}', { params: { path: { cartDetailId } } }))
}

export function emptyBasket(): Promise<Basket> {
  return asMember(() => client.DELETE('/cart'))
}

// Orders.

/** What an order of the cart would cost. */
export function quoteBasket(branchId: string, kind: Kind, code: { voucher?: string }): Promise<Quoted> {
  return asMember(() => client.POST('/cart/quote', { body: { branchId, kind, ...code } }))
}

export function checkOut(body: Checkout): Promise<CheckedOut> {
  return asMember(() => client.POST('/cart/checkout', { body }))
}

export async function orders(page: number, size: number): Promise<{ items: ListedOrder[]; total: number }> {
  const { items, total } = await asMember(() => client.GET('/orders', { params: { query: { page, size } } }))
  return { items: items ?? [], total }
}

/** How streams of the member get a token. */
const streaming = {
  headers: memberHeaders,
  authorize: () => tokens.valid(),
  async renew() {
    const refused = tokens.bearer
    await tokens.renew(refused)
    return tokens.bearer !== '' && tokens.bearer !== refused
  },
}

/** The requests and the stream of one order. */
export function orderSource(id: string): LiveOrderSource<MemberOrder> {
  return {
    ...streaming,
    fetch: () => asMember(() => client.GET('/orders/{id}', { params: { path: { id } } })),
    url: `/orders/${encodeURIComponent(id)}/events`,
  }
}

/** The member's notices. */
export function memberNotices(id: string): NoticeSource {
  return {
    ...streaming,
    key: `member:${id}`,
    url: '/me/notices/events',
    older: (before) => asMember(() => client.GET('/me/notices', { params: { query: { before } } })) as Promise<NoticePage>,
    read: (notice) => asMember(() => client.POST('/me/notices/{id}/read', { params: { path: { id: notice } } })),
    readAll: (upTo) => asMember(() => client.POST('/me/notices/read', { body: { upTo } })),
    choices: async () => (await asMember(() => client.GET('/me/notice-choices'))).choices ?? [],
    choose: async (choices) => (await asMember(() => client.PUT('/me/notice-choices', { body: { choices } }))).choices ?? [],
    subscribe: (body) => asMember(() => client.POST('/me/push', { body })),
    unsubscribe: (browser) => asMember(() => client.DELETE('/me/push/{id}', { params: { path: { id: browser } } })),
    pageOf: (order) => `/shop/orders/${order}`,
  }
}

export function cancelOrder(id: string): Promise<unknown> {
  return asMember(() => client.POST('/orders/{id}/cancel', { params: { path: { id } } }))
}

/** Extends the payment deadline by five minutes. `payBy` is the deadline that the member saw. */
export function prolongOrder(id: string, payBy: string): Promise<unknown> {
  return asMember(() => client.POST('/orders/{id}/more-time', { params: { path: { id } }, body: { payBy } }))
}

export function payOrder(id: string, method: Method): Promise<Placed> {
  return asMember(() => client.POST('/orders/{id}/pay', { params: { path: { id } }, body: { method } }))
}
