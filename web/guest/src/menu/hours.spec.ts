import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope, ref } from 'vue'

import { setLanguage } from '@shared/i18n'

import type { Menu } from '../api/dto'
import { closedText, loadAtChange, noDishesText } from './hours'

const now = Date.parse('2026-02-26T05:00:00Z') // Thursday noon in Hanoi
const closedUntil = (opensAt: string | null) => closedText({ opensAt }, 'Asia/Ho_Chi_Minh', now)

it('names the hour today, the weekday within a week, and the date beyond', async () => {
  await setLanguage('en')
  expect(closedText(undefined, 'UTC', now)).toBeUndefined()
  expect(closedUntil(null)).toMatch(/closed/)
  expect(closedUntil('2026-02-26T10:00:00Z')).toBe('We’re closed. We open at 17:00.')
  expect(closedUntil('2026-02-26T18:30:00Z')).toBe('We’re closed. We open on Friday at 01:30.') // past midnight in Hanoi, not in UTC
  expect(closedUntil('2026-03-02T04:00:00Z')).toBe('We’re closed. We open on Monday at 11:00.')
  expect(closedUntil('2026-03-05T04:00:00Z')).toBe('We’re closed. We open on Thursday, March 5 at 11:00.')
})

it('names the time of the next menu', async () => {
  await setLanguage('en')
  const menu = (menuChange?: string) => ({ categories: [], menuChange }) as unknown as Menu
  expect(noDishesText(menu(), 'Asia/Ho_Chi_Minh', now)).toMatch(/No menu/)
  expect(noDishesText(menu('2026-02-26T10:00:00Z'), 'Asia/Ho_Chi_Minh', now)).toBe('The kitchen serves again at 17:00.')
  expect(noDishesText(menu('2026-02-27T04:00:00Z'), 'Asia/Ho_Chi_Minh', now)).toBe('The kitchen serves again on Friday at 11:00.')
})

beforeEach(() => vi.useFakeTimers({ now }))
afterEach(() => vi.useRealTimers())

it('reloads the menu at the next opening or closing', () => {
  const scope = effectScope()
  const load = vi.fn()
  const menu = ref<Menu | undefined>({ hoursChange: '2026-02-26T05:10:00Z' } as Menu)
  scope.run(() => { loadAtChange(() => menu.value, load) })
  vi.advanceTimersByTime(10 * 60_000)
  expect(load).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(load).toHaveBeenCalledOnce()
  // Lunch ends before the restaurant closes.
  menu.value = { hoursChange: '2026-02-26T15:00:00Z', menuChange: '2026-02-26T07:00:00Z' } as Menu
  vi.setSystemTime(Date.parse('2026-02-26T06:59:00Z'))
  menu.value = { ...menu.value, hoursChange: '2026-02-26T15:00:01Z' }
  scope.run(() => { loadAtChange(() => menu.value, load) })
  vi.advanceTimersByTime(61_000)
  expect(load).toHaveBeenCalledTimes(2)
  scope.stop()
})
