import { expect, test, vi } from 'vitest'
import { createApp } from 'vue'

import { question } from './notices'
import { useUnsaved } from './unsaved'

const guards = vi.hoisted(() => [] as (() => Promise<boolean>)[])
vi.mock('vue-router', () => ({ onBeforeRouteLeave: (guard: () => Promise<boolean>) => { guards.push(guard) } }))

test('leaving the page or closing the window asks only with unsaved changes', async () => {
  let changed = false
  const app = createApp({ setup: () => { useUnsaved(() => changed, () => ({ title: 'Discard?', action: 'Discard' })) }, render: () => null })
  app.mount(document.createElement('div'))
  const leave = () => guards[0]?.()
  const closes = () => dispatchEvent(new Event('beforeunload', { cancelable: true }))
  expect([await leave(), closes(), question.value]).toEqual([true, true, undefined])

  changed = true
  expect(closes()).toBe(false)
  for (const [answer, left] of [[undefined, false], ['yes', true]] as const) {
    const leaving = leave()
    expect(question.value).toMatchObject({ title: 'Discard?', action: 'Discard', danger: true })
    question.value?.answer(answer)
    expect(await leaving).toBe(left)
  }
  app.unmount()
  expect(closes()).toBe(true)
})
