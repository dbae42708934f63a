import { computed, nextTick, watch, type Ref } from 'vue'

import { clock, t } from '@shared/i18n'
import { useNow } from '@shared/time'

import type { Order } from '../api/dto'
import { announce } from '../shell/announce'
import { expectationOf, headOf, isOpen, orderStateOf } from './orderstate'

/**
 * The head of an order's screen: its state, whether it can still be paid, its headline, and the time when it will be ready
 * in the branch's time zone. A changed headline is announced to screen readers.
 */
export function useOrderHead(order: Ref<Order | undefined>, timezone: Ref<string>) {
  const now = useNow()
  const state = computed(() => (order.value ? orderStateOf(order.value, now.value) : undefined))
  const open = computed(() => state.value !== undefined && isOpen(state.value))
  const head = computed(() => (order.value && state.value ? headOf(order.value, state.value) : undefined))
  const expected = computed(() => {
    const e = order.value && expectationOf(order.value, now.value)
    return e && t(e.text, e.time ? { time: clock(e.time, timezone.value) } : {})
  })

  watch(state, async (is, before) => {
    if (before && is && head.value) announce(t(head.value[0]))
    // The heading that had the focus during loading is removed.
    await nextTick()
    if (!before && document.activeElement === document.body) focusHeading()
  })
  return { state, open, head, expected }
}

/** Moves the focus to the screen's heading after the focused element was removed. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus()
}
