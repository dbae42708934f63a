import { t, hasText } from '../shell/i18n'

/** Returns the reason of a refund as text. A reason without a text is shown as the server sent it. */
export function refundReason(reason: string | undefined): string {
  const key = `orders.because_${reason ?? ''}`
  return hasText(key) ? t(key) : (reason ?? '')
}
