import { t, hasText } from '../shell/i18n'

/** Why money goes back, in words; what has no words is shown as the server says it. */
export function because(reason: string | undefined): string {
  const key = `orders.because_${reason ?? ''}`
  return hasText(key) ? t(key) : (reason ?? '')
}
