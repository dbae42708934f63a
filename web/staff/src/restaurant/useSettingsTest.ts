import { onScopeDispose, ref, shallowRef } from 'vue'

import type { components } from '@shared/api/schema'
import { faultText } from '../shell/faults'
import { retryAfterOutage } from '../shell/outage'
import { api, ask } from '../shell/session'
import type { TestResult } from './settings'

/** What a form shows about the test of its stored settings. */
export type Outcome = { kind: 'waiting' } | { kind: 'failed'; text: string } | { kind: 'done'; result: TestResult }

/** The test of stored settings. It survives an outage of the server: a mail server may then receive the test message twice. */
export function useSettingsTest(body: () => components['schemas']['TestInputBody']) {
  const busy = ref(false)
  const outcome = shallowRef<Outcome>()
  let turn = 0

  /** Forgets the outcome, which belongs to earlier settings. */
  function clear() {
    turn++
    busy.value = false
    outcome.value = undefined
  }

  async function start() {
    clear()
    const mine = turn
    const wanted = () => mine === turn
    busy.value = true
    try {
      const result = await retryAfterOutage(
        () => ask(() => api.POST('/api/settings/test', { body: body() })),
        () => { outcome.value = { kind: 'waiting' } },
        wanted,
      )
      if (wanted() && result) outcome.value = { kind: 'done', result }
    } catch (e) {
      if (wanted()) outcome.value = { kind: 'failed', text: faultText(e) }
    } finally {
      if (wanted()) busy.value = false
    }
  }

  onScopeDispose(clear)
  return { busy, outcome, start, clear }
}
