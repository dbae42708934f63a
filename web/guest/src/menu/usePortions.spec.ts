import { expect, test } from 'vitest'
import { nextTick, ref } from 'vue'

import { usePortions, type Portion } from './usePortions'

const portion = (price: number, optionId?: string, notes = ''): Portion => ({ options: optionId ? [{ optionId, name: optionId, price: 0, qty: 1 }] : [], notes, price })

test('all portions are the same unless the guest chooses each one', () => {
  const p = usePortions(ref(3))
  expect(p.more.value).toBe(false)
  expect(p.total(35)).toBe(105)
  expect(p.lines(portion(35, '1'))).toEqual([{ ...portion(35, '1'), qty: 3 }])
})

test('each portion has its own options, and equal ones are one line', async () => {
  const p = usePortions(ref(3))
  p.each.value = true
  await nextTick()
  expect([p.step.value, p.more.value]).toEqual([1, true])
  p.next(portion(35, '1'))
  p.next(portion(45, '2'))
  expect([p.step.value, p.more.value, p.total(35)]).toEqual([3, false, 115])
  expect(p.lines(portion(35, '1'))).toEqual([{ ...portion(35, '1'), qty: 2 }, { ...portion(45, '2'), qty: 1 }])
  expect(p.lines(portion(35, '1', 'no ice'))).toHaveLength(3)
})

test('a smaller quantity keeps the portions that are chosen, and a single one is not split', async () => {
  const qty = ref(3)
  const p = usePortions(qty)
  p.each.value = true
  await nextTick()
  p.next(portion(35, '1'))
  p.next(portion(45, '2'))
  qty.value = 2
  await nextTick()
  expect([p.step.value, p.more.value]).toEqual([2, false])
  qty.value = 1
  await nextTick()
  expect([p.splits.value, p.step.value, p.total(50)]).toEqual([false, 1, 50])
  expect(p.lines(portion(50))).toEqual([{ ...portion(50), qty: 1 }])
})

test('all the same again forgets the portions', async () => {
  const p = usePortions(ref(2))
  p.each.value = true
  await nextTick()
  p.next(portion(35))
  p.each.value = false
  await nextTick()
  expect(p.total(40)).toBe(80)
})
