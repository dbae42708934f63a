import { newClient } from '@shared/api/client'
import { acceptLanguage, language, localeOf } from '@shared/i18n'

import type { Views } from '../menu/views'
import type { LiveOrderSource } from '../order/useLiveOrder'
import type { Quoted } from '../pay/quote'
import { answer } from './answer'
import type { CallReason, CreateOrder, Landed, ListedOrder, Menu, Method, Order, Placed, PutLine, Table, TableCart } from './dto'

/** The phone's visit token. The session store sets it. */
let customerToken = ''

export function useToken(token: string): void {
  customerToken = token
}

/** The headers of a guest's requests. */
export function guestHeaders(): Record<string, string> {
  const headers: Record<string, string> = { 'Accept-Language': acceptLanguage(language.value) }
  if (customerToken) headers['X-Customer-Token'] = customerToken
  return headers
}

const client = newClient(guestHeaders)

export function land(qr: string): Promise<Landed> {
  return answer(client.POST('/cis/landing', { body: { qr } }))
}

export function activeMenu(branchId: string, tableId: string, locale = localeOf(language.value)): Promise<Menu> {
  const query = { locale }
  return answer(client.POST('/cis/menu/active', { params: { query }, body: { branchId, tableId } }))
}

/** The dishes that sell best today and can be ordered now. */
export function popularDishes(branchId: string): Promise<{ dishIds: string[] | null }> {
  return answer(client.GET('/cis/branch/{branchId}/popular', { params: { path: { branchId } } }))
}

/** What other guests of a branch search for, spelled as on the menu. */
export function popularSearches(branchId: string, locale = localeOf(language.value)): Promise<{ searches: string[] | null }> {
  return answer(client.GET('/cis/branch/{branchId}/suggestions', { params: { path: { branchId }, query: { locale } } }))
}

/** Reports what a guest has looked at and searched for. It arrives even if the page is being closed. */
export function sendViews({ viewed, added, pages, searches }: Views): Promise<unknown> {
  return answer(client.POST('/cis/views', { body: { viewed, added, pages, searches }, keepalive: true }))
}

export function createOrder(body: CreateOrder): Promise<Placed> {
  return answer(client.POST('/cis/order/create', { body }))
}

/** What an order would cost. */
export function quoteOrder(body: Pick<CreateOrder, 'items' | 'menuVersionId' | 'voucher'>): Promise<Quoted> {
  return answer(client.POST('/cis/order/quote', { body }))
}

function getOrder(id: string): Promise<Order> {
  return answer(client.GET('/cis/order/{id}', { params: { path: { id } } })) as Promise<Order>
}

/** The requests and the stream of one order. */
export function orderSource(id: string): LiveOrderSource<Order> {
  return { fetch: () => getOrder(id), url: `/cis/order/${encodeURIComponent(id)}/events`, headers: guestHeaders }
}

export function cancelOrder(id: string): Promise<unknown> {
  return answer(client.POST('/cis/order/{id}/cancel', { params: { path: { id } } }))
}

export function payOrder(id: string, method: Method): Promise<Placed> {
  return answer(client.POST('/cis/order/{id}/pay', { params: { path: { id } }, body: { method } }))
}

/** Extends the payment deadline by five minutes. `payBy` is the deadline that the guest saw. */
export function prolongOrder(id: string, payBy: string): Promise<unknown> {
  return answer(client.POST('/cis/order/{id}/more-time', { params: { path: { id } }, body: { payBy } }))
}

/** The orders of a visit, and its table. */
export async function ordersOfVisit(visitId: string): Promise<{ orders: ListedOrder[]; table: Table }> {
  const params = { path: { visitId }, query: { size: 100 } }
  const { orders, tableId, tableLabel } = await answer(client.GET('/cis/visit/{visitId}/orders', { params }))
  return { orders: (orders ?? []) as ListedOrder[], table: { id: tableId, label: tableLabel } }
}

/** The table's shared cart. */
export function tableCart(visitId: string): Promise<TableCart> {
  return answer(client.GET('/cis/visit/{visitId}/cart', { params: { path: { visitId } } }))
}

export function putTableLine(visitId: string, lineId: string, body: PutLine): Promise<TableCart> {
  return answer(client.PUT('/cis/visit/{visitId}/cart/lines/{lineId}', { params: { path: { visitId, lineId } }, body }))
}

export function removeTableLine(visitId: string, lineId: string): Promise<TableCart> {
  return answer(client.DELETE('/cis/visit/{visitId}/cart/lines/{lineId}', { params: { path: { visitId, lineId } } }))
}

/** Calls staff to the table. */
export function callStaff(visitId: string, reason: CallReason): Promise<unknown> {
  return answer(client.POST('/cis/visit/{visitId}/call', { params: { path: { visitId } }, body: { reason } }))
}

/** Simulates a gateway's notification; demonstrations only. */
export function reportSandbox(orderId: string, result: 'SUCCESS' | 'CANCEL' | 'FAIL'): Promise<unknown> {
  return answer(client.POST('/cis/payments/mock-callback', { body: { orderId, method: 'SANDBOX', result } }))
}
