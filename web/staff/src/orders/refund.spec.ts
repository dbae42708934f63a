import { beforeAll, expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { refundText, type Attempt } from './order'

beforeAll(() => changeLanguage('en'))

const paid = (method: Attempt['method']) => ({ payments: [{ id: '7', method } as Attempt] })
const refund = (state: string) => ({ state, paymentId: '7' })

test.each([
  ['cash', 'COUNTER', 'DONE', false, 'Give the customer the cash now.'],
  ['cash that was returned before', 'COUNTER', 'DONE', true, 'Refund recorded.'],
  ['a refund made in the portal of the gateway', 'VNPAY', 'DONE', true, 'Refund recorded.'],
  ['a test payment', 'SANDBOX', 'DONE', false, 'Refund recorded.'],
  ['a gateway that is still to confirm', 'LINEPAY', 'SENDING', false, 'Refund started.'],
] as const)('staff hand over money only once: %s', (_, method, state, byHand, text) => {
  expect(refundText(paid(method), refund(state), byHand)).toBe(text)
})
