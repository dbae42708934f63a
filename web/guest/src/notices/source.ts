import type { components } from '@shared/api/schema'

type Schemas = components['schemas']

export type Notice = Schemas['NoticeView']
export type NoticePage = Omit<Schemas['NoticePage'], '$schema' | 'items'> & { items: Notice[] | null }
export type NoticeChoice = Schemas['NoticeChoice']
export type Browser = Omit<Schemas['NoticeBrowser'], '$schema'>

/** The requests and the stream of one reader's notices: of a member, or of the guests of a visit. */
export interface NoticeSource {
  /** Identifies the reader on this device. */
  key: string
  url: string
  headers: () => Record<string, string>
  /** Gets a valid token before the stream is opened. */
  authorize?: () => Promise<unknown>
  /** Gets a new token after the stream was refused, and reports whether there is one. */
  renew?: () => Promise<boolean>
  older: (before: string) => Promise<NoticePage>
  read: (id: string) => Promise<unknown>
  readAll: (upTo: string) => Promise<unknown>
  choices: () => Promise<NoticeChoice[]>
  choose: (choices: NoticeChoice[]) => Promise<NoticeChoice[]>
  subscribe: (browser: Browser) => Promise<{ id: string }>
  unsubscribe: (id: string) => Promise<unknown>
  pageOf: (orderId: string) => string
}
