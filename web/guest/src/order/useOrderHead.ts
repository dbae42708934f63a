import { computed, nextTick, watch, type Ref } from 'vue'

import { clock, t } from '@shared/i18n'

import type { Order } from '../api/dto'
import { announce } from '../shell/announce'
import { useNow } from '../shell/now'
import { expectationOf, headOf, isOpen, orderStateOf } from './orderstate'

/**
 * The state of the order that a screen shows, whether it can still be paid, its headline, which is announced when it
 * changes, and when it will be ready, in the branch's time.
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
    // The heading that had the focus while the order was loaded is gone.
    await nextTick()
    if (!before && document.activeElement === document.body) focusHeading()
  })
  return { state, open, head, expected }
}

/** Moves the focus to the heading of the screen, after the focused element was removed. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus()
}
