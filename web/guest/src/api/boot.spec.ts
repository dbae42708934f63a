import { expect, test } from 'vitest'

import { methodsFor, paysOnPhone, readBoot, suits } from './boot'

function page(boot: string): Document {
  const doc = document.implementation.createHTMLDocument()
  const block = doc.createElement('script')
  block.id = 'boot'
  block.type = 'application/json'
  block.textContent = boot
  doc.body.append(block)
  return doc
}

test('the boot data lists the payment methods', () => {
  expect(readBoot(page('{"methods":["VNPAY","COUNTER"]}')).methods).toEqual(['VNPAY', 'COUNTER'])
})

test.each([
  ['["VNPAY","COUNTER"]', true],
  ['["SANDBOX"]', true],
  ['["COUNTER"]', false],
])('with the methods %s guests pay on their phones: %s', (methods, want) => {
  expect(paysOnPhone(page(`{"methods":${methods}}`))).toBe(want)
})

test.each(['', 'null', '{}', '{"methods":[]}', '{"methods":7}'])('the boot data %j leave only the counter', (boot) => {
  expect(readBoot(page(boot)).methods).toEqual(['COUNTER'])
})

test.each([
  ['VNPAY', 5000, 'VND', true],
  ['VNPAY', 4999, 'VND', false],
  ['VNPAY', 5000, 'TWD', false],
  ['LINEPAY', 220, 'TWD', true],
  ['LINEPAY', 65000, 'VND', false],
  ['COUNTER', 1, 'VND', true],
  ['SANDBOX', 1, 'TWD', true],
] as const)('%s for %d %s: %s', (method, amount, currency, want) => {
  expect(suits(method, amount, currency)).toBe(want)
})

test.each([
  ['["VNPAY","SANDBOX","COUNTER"]', undefined, ['VNPAY', 'SANDBOX', 'COUNTER']],
  ['["VNPAY","SANDBOX","COUNTER"]', 'PICKUP', ['VNPAY', 'SANDBOX', 'COUNTER']],
  ['["VNPAY","LINEPAY","COUNTER"]', 'DELIVERY', ['VNPAY']],
  ['["COUNTER"]', 'DELIVERY', ['COUNTER']],
])('%s for %s', (methods, kind, want) => {
  document.body.replaceChildren(...page(`{"methods":${methods}}`).body.children)
  expect(methodsFor(65_000, 'VND', kind)).toEqual(want)
})
