import type { Fault } from '@shared/api/fault'

import { m, type MemberKey } from './texts'

// Texts for the server's problem codes. A code that is missing here gets a general text.
const words: Record<string, MemberKey> = {
  offline: 'fault.offline', unavailable: 'fault.offline', busy: 'fault.busy', overloaded: 'fault.busy',
  unauthenticated: 'fault.unauthenticated', invalid: 'fault.invalid',
  login_failed: 'fault.login', not_verified: 'fault.unverified', account_disabled: 'fault.disabled',
  email_taken: 'fault.emailTaken', username_taken: 'fault.usernameTaken', phone_taken: 'fault.phoneTaken',
  value_taken: 'fault.taken', device_taken: 'fault.taken', code_invalid: 'fault.code', password_unfit: 'fault.passwordUnfit',
  password_wrong: 'fault.passwordWrong', session_not_found: 'fault.sessionGone',
  cart_full: 'fault.cartFull', dish_not_found: 'fault.dishGone', cart_item_not_found: 'fault.cartChanged',
  cart_changed: 'fault.cartChanged', cart_empty: 'fault.cartEmpty', branch_closed: 'fault.closed', outlet_paused: 'fault.closed',
  option_unknown: 'fault.options', options_invalid: 'fault.options',
  sold_out: 'fault.soldOut', dish_unavailable: 'fault.unavailable', menu_version_closed: 'fault.menuChanged',
  item_unknown: 'fault.menuChanged', too_many_unpaid: 'fault.unpaid', payment_method_unavailable: 'fault.method',
  payment_method_unsuitable: 'fault.method', idempotency_mismatch: 'fault.arrived', not_cancelable: 'fault.notCancelable',
  not_payable: 'fault.notPayable', already_paid: 'fault.paid', too_late: 'fault.notPayable', payment_in_progress: 'fault.paying',
  payment_refused: 'fault.method', too_many_attempts: 'fault.attempts', order_not_found: 'fault.orderUnknown',
  google_flow_invalid: 'fault.googleState', google_unavailable: 'fault.googleDown', google_off: 'fault.googleDown',
  google_refused: 'fault.googleRefused', google_email_unverified: 'fault.googleEmail', google_link_needed: 'fault.googleLink',
  google_staff: 'fault.googleStaff', google_taken: 'fault.googleTaken', google_only_login: 'fault.googleOnly',
  unsubscribe_link_invalid: 'unsubscribe.broken',
}

// Texts for the form fields that the server rejects.
const fields: Record<string, MemberKey> = {
  receiverName: 'wrong.name', receiverPhone: 'wrong.phone', receiverAddress: 'wrong.address', receiverEmail: 'wrong.email',
  receiverNote: 'wrong.note',
  email: 'wrong.email', phone: 'wrong.phone', username: 'wrong.username', password: 'fault.passwordUnfit',
  newPassword: 'fault.passwordUnfit',
}

/** The text for a fault. */
export function textFor(fault: Fault): string {
  if (fault.code === 'rate_limited') return m('fault.wait', { count: Math.max(1, Math.ceil(fault.retryAfter)) })
  return m(words[fault.code] ?? 'fault.other')
}

/** The rejected fields of a form, each with its text. */
export function wrongFields(fault: Fault): Record<string, string> {
  const taken: Record<string, string> = { email_taken: 'email', username_taken: 'username', phone_taken: 'phone' }
  const own = taken[fault.code]
  if (own) return { [own]: textFor(fault) }
  if (fault.code === 'password_unfit') return { password: textFor(fault), newPassword: textFor(fault) }
  const found: Record<string, string> = {}
  const named = [fault.problem.field, ...(fault.problem.errors ?? []).map((e) => e.field.replace(/^body\./, ''))]
  for (const name of named) {
    if (typeof name === 'string' && fields[name]) found[name] = m(fields[name])
  }
  return found
}
