import { expect, test } from 'vitest'
import { effectScope, ref } from 'vue'

import { Fault } from '@shared/api/fault'

import { useChangedTotal } from './changedTotal'

const raised = new Fault('price_changed', 409, { currentTotal: 120 })

test('a new total is that of the refused order only', () => {
  const wish = ref([['pho', 1]])
  const { asked, refused } = effectScope().run(() => useChangedTotal(() => wish.value)) as ReturnType<typeof useChangedTotal>
  expect(asked.value).toBe(0)
  refused(raised)
  expect(asked.value).toBe(120)
  wish.value = [['pho', 1]] // loaded again
  expect(asked.value).toBe(120)
  wish.value = [['pho', 2]]
  expect(asked.value).toBe(0)
})

test('another refusal ends the question', () => {
  const { asked, refused } = effectScope().run(() => useChangedTotal(() => 'pho')) as ReturnType<typeof useChangedTotal>
  refused(raised)
  refused(new Fault('sold_out', 409))
  expect(asked.value).toBe(0)
})
