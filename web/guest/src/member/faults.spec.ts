import { beforeAll, expect, test } from 'vitest'

import { Fault, type Problem } from '@shared/api/fault'
import { setLanguage } from '@shared/i18n'

import { textFor, wrongFields } from './faults'
import { ready } from './texts'

beforeAll(async () => {
  await setLanguage('en')
  await ready()
})

test.each([
  ['login_failed', 'Wrong e-mail or password.'],
  ['sold_out', 'Something just sold out. Check your cart.'],
  ['offline', 'Can’t reach the restaurant right now. Please try again.'],
  ['something_new', 'Something went wrong. Please try again.'],
])('the text of %s is “%s”', (code, want) => {
  expect(textFor(new Fault(code, 400))).toBe(want)
})

test('the text of a rate limit contains the waiting time', () => {
  expect(textFor(new Fault('rate_limited', 429, {}, 49))).toBe('Too many attempts. Please wait 49 seconds.')
  expect(textFor(new Fault('rate_limited', 429))).toBe('Too many attempts. Please wait 1 second.')
})

test('a rejected field is found under both of the server’s names', () => {
  const named = new Fault('invalid', 422, { field: 'receiverPhone' })
  expect(wrongFields(named)).toEqual({ receiverPhone: expect.stringContaining('6 to 15 digits') as string })
  const listed = new Fault('invalid', 422, { errors: [{ field: 'body.email', message: 'x' }, { field: 'query.page', message: 'x' }] } as Partial<Problem>)
  expect(wrongFields(listed)).toEqual({ email: 'Enter a valid e-mail address.' })
  const noted = new Fault('invalid', 422, { errors: [{ field: 'body.receiverNote', message: 'x' }] } as Partial<Problem>)
  expect(wrongFields(noted)).toEqual({ receiverNote: expect.stringContaining('200 characters') as string })
  expect(wrongFields(new Fault('username_taken', 409))).toEqual({ username: 'This username is already taken.' })
  expect(wrongFields(new Fault('sold_out', 409))).toEqual({})
})

// Every problem code that members can receive has a text of its own.
test.each([
  'busy', 'invalid', 'not_verified', 'account_disabled', 'email_taken', 'username_taken', 'phone_taken', 'value_taken', 'code_invalid',
  'password_unfit', 'password_wrong', 'session_not_found', 'cart_full', 'cart_item_not_found', 'cart_changed', 'cart_empty',
  'dish_not_found', 'dish_unavailable', 'branch_closed', 'menu_version_closed', 'too_many_unpaid', 'payment_method_unsuitable',
  'idempotency_mismatch', 'not_cancelable', 'not_payable', 'already_paid', 'too_late', 'payment_in_progress', 'too_many_attempts',
  'order_not_found',
])('%s has a text', (code) => {
  expect(textFor(new Fault(code, 400))).not.toBe(textFor(new Fault('something_new', 400)))
})
