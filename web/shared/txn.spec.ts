import { afterEach, expect, it, vi } from 'vitest'
import { newTxnId } from './txn'

afterEach(() => vi.useRealTimers())

it('makes keys that differ and sort by time', () => {
  vi.useFakeTimers()
  vi.setSystemTime(Date.UTC(2026, 10, 28, 18, 0, 0))
  const first = newTxnId()
  expect(first).toMatch(/^w-[0-9a-f]{32}$/)
  expect(new Set(Array.from({ length: 1000 }, newTxnId)).size).toBe(1000)
  vi.advanceTimersByTime(1)
  expect(newTxnId() > first).toBe(true)
})
