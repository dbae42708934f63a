import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { Fault } from '@shared/api/fault'
import { setLanguage } from '@shared/i18n'

import { ready } from '../texts'
import CodeField from './CodeField.vue'

const requestCode = vi.hoisted(() => vi.fn<() => Promise<unknown>>())
vi.mock('../api', () => ({ requestCode }))

beforeEach(async () => {
  await ready()
  await setLanguage('en')
})
enableAutoUnmount(afterEach)

function field(unsent?: Fault) {
  const { element } = mount(CodeField, {
    props: { purpose: 'VERIFY', email: 'lan@house.example', modelValue: '', unsent }, attachTo: document.body,
  })
  const main = element as HTMLElement
  return { main, button: main.querySelector('button') as HTMLButtonElement, alert: () => main.querySelector('[role=alert]') }
}

test('after a code was sent, another one has to wait', () => {
  const { button, alert } = field()
  expect([button.disabled, button.textContent?.trim(), alert()]).toEqual([true, 'New code in 60 seconds', null])
})

test('a code that could not be sent is sent at a press of the button', async () => {
  const { button, alert, main } = field(new Fault('offline'))
  expect([button.disabled, button.textContent?.trim()]).toEqual([false, 'Send a new code'])
  expect(alert()?.textContent).toBeTruthy()
  requestCode.mockResolvedValue({})
  button.click()
  await vi.waitFor(() => { expect(main.textContent).toContain('A new code is on its way.') })
  expect([alert(), button.disabled]).toEqual([null, true])
})

test('a refusal says how long to wait', () => {
  const { button, alert } = field(new Fault('rate_limited', 429, {}, 20))
  expect([button.disabled, button.textContent?.trim()]).toEqual([true, 'New code in 20 seconds'])
  expect(alert()?.textContent).toContain('20')
})
