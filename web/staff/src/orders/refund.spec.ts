import { beforeAll, expect, test } from 'vitest'

import { changeLanguage } from '../shell/i18n'
import { refundText, type Attempt } from './order'

beforeAll(() => changeLanguage('en'))

const paid = (method: Attempt['method']) => ({ payments: [{ id: '7', method } as Attempt] })
const refund = (state: string) => ({ state, paymentId: '7' })

test.each([
  ['cash', 'COUNTER', 'DONE', 'Give the customer the cash now.'],
  ['a refund made in the portal of the gateway', 'VNPAY', 'DONE', 'Refund recorded.'],
  ['a test payment', 'SANDBOX', 'DONE', 'Refund recorded.'],
  ['a gateway that is still to confirm', 'LINEPAY', 'SENDING', 'Refund started.'],
] as const)('staff hand over money only once: %s', (_, method, state, text) => {
  expect(refundText(paid(method), refund(state))).toBe(text)
})
