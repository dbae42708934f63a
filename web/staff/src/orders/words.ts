import { t, told } from '../shell/i18n'

/** Why money goes back, in words; what has no words is shown as the server says it. */
export function because(reason: string | undefined): string {
  const key = `orders.because_${reason ?? ''}`
  return told(key) ? t(key) : (reason ?? '')
}
