import { newClient } from '@shared/api/client'

import { answer } from '../api/answer'
import { guestHeaders } from '../api/public'
import type { NoticePage, NoticeSource } from './source'

const client = newClient(guestHeaders)

/** The key with which browsers subscribe. */
export async function pushKey(): Promise<string> {
  return (await answer(client.GET('/cis/push-key'))).key
}

/** The notices of a visit, read on this phone. */
export function guestNotices(visitId: string): NoticeSource {
  return {
    key: `guest:${visitId}`,
    url: '/cis/notices/events',
    headers: guestHeaders,
    older: (before) => answer(client.GET('/cis/notices', { params: { query: { before } } })) as Promise<NoticePage>,
    read: (id) => answer(client.POST('/cis/notices/{id}/read', { params: { path: { id } } })),
    readAll: (upTo) => answer(client.POST('/cis/notices/read', { body: { upTo } })),
    choices: async () => (await answer(client.GET('/cis/notice-choices'))).choices ?? [],
    choose: async (choices) => (await answer(client.PUT('/cis/notice-choices', { body: { choices } }))).choices ?? [],
    subscribe: (body) => answer(client.POST('/cis/push', { body })),
    unsubscribe: (id) => answer(client.DELETE('/cis/push/{id}', { params: { path: { id } } })),
    pageOf: (id) => `/app/orders/${id}`,
  }
}
