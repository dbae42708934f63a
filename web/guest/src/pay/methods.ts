import type { Key } from '@shared/i18n'

import type { Method } from '../api/dto'

/** The name and hint of each payment method. */
export const methodTexts: Record<Method, [Key, Key]> = {
  COUNTER: ['pay.counter', 'pay.counterHint'],
  VNPAY: ['pay.vnpay', 'pay.vnpayHint'],
  LINEPAY: ['pay.linepay', 'pay.linepayHint'],
  SANDBOX: ['pay.sandbox', 'pay.sandboxHint'],
}
