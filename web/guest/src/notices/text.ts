import { money, t, type Key } from '@shared/i18n'

import type { Notice, NoticeChoice } from './source'

const texts: Partial<Record<Notice['kind'], Key>> = {
  ORDER_PAID: 'notice.paid', ORDER_READY: 'notice.ready', ORDER_CANCELED: 'notice.canceled', ORDER_EXPIRED: 'notice.expired',
  ORDER_REFUNDED: 'notice.refunded',
}

const kinds: Partial<Record<Notice['kind'], Key>> = {
  ORDER_PAID: 'notice.kindPaid', ORDER_READY: 'notice.kindReady', ORDER_CANCELED: 'notice.kindCanceled',
  ORDER_EXPIRED: 'notice.kindExpired', ORDER_REFUNDED: 'notice.kindRefunded',
}

/** The text of a notice; empty for kinds that guests do not get. */
export function textOf(n: Notice): string {
  const key = texts[n.kind]
  return key ? t(key, { number: n.number ?? '' }) : ''
}

/** The amount of a refund. */
export function amountOf(n: Notice): string {
  return n.kind === 'ORDER_REFUNDED' && n.amount && n.currency ? money(n.amount, n.currency) : ''
}

/** The name of a kind; empty for kinds that guests do not get. */
export function kindOf(c: NoticeChoice): string {
  const key = kinds[c.kind]
  return key ? t(key) : ''
}
