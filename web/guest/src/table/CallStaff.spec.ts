import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createApp, nextTick, type App } from 'vue'

import { Fault } from '@shared/api/fault'
import { setLanguage } from '@shared/i18n'

import { callStaff } from '../api/public'
import CallStaff from './CallStaff.vue'

vi.mock('../api/public', () => ({ callStaff: vi.fn() }))
const call = vi.mocked(callStaff)

let app: App
let page: HTMLElement

beforeEach(async () => {
  await setLanguage('en')
  call.mockReset()
  page = document.createElement('main')
  app = createApp(CallStaff, { visitId: 'v1' })
  app.mount(page)
})
afterEach(() => { app.unmount() })

async function press(label: string): Promise<void> {
  const button = [...page.querySelectorAll('button')].find((b) => b.textContent?.trim() === label)
  button?.click()
  await vi.waitFor(() => { expect(page.querySelector('button')?.disabled).toBe(false) })
  await nextTick()
}

test('a call reaches the staff, and the table sees that they have received it', async () => {
  call.mockResolvedValue({})
  await press('Water, please')
  await press('Bill, please')
  expect(call.mock.calls).toEqual([['v1', 'WATER'], ['v1', 'BILL']])
  expect(page.querySelector('[role=status]')?.textContent).toContain('Someone is on the way')
  expect(page.querySelector('[role=alert]')).toBeNull()
})

test.each([['rate_limited', 'already got your call'], ['offline', 'Try again']])('a call answered with %s shows %s', async (code, text) => {
  call.mockRejectedValue(new Fault(code))
  await press('I need help')
  expect(page.querySelector('[role=alert]')?.textContent).toContain(text)
  expect(page.querySelector('[role=status]')?.textContent?.trim()).toBe('')
})
