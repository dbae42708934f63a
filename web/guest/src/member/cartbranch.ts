import { computed, watch } from 'vue'

import { clock, t } from '@shared/i18n'

import type { Menu } from '../api/dto'
import { closedText } from '../menu/hours'
import { pauseText } from '../menu/pause'
import { useBasket } from './basket'
import { useBranches } from './branches'
import { m } from './texts'

const every = 20_000 // ms between two loads of the menu of a paused branch

/** The text about a paused branch, with the reason and the end of the pause if they are known; undefined while it takes orders. */
export function pausedText(pause: Menu['paused'] | undefined, timeZone = 'UTC'): string | undefined {
  if (!pause) return undefined
  const until = pause.until ? t('closed.until', { time: clock(pause.until, timeZone) }) : ''
  return [m('fault.closed'), pauseText(pause), until].filter(Boolean).join(' ')
}

/**
 * Why the branch of the cart takes no orders now: it is closed, or paused. Both are undefined while it takes orders, and while
 * the loaded menu is another branch's.
 */
export function useCartBranch() {
  const basket = useBasket()
  const { branch, menu, load } = useBranches()
  const own = computed(() => (basket.branchId === branch.value?.id ? menu.value : undefined))
  const closed = computed(() => closedText(own.value?.closed, branch.value?.timezone))
  const paused = computed(() => pausedText(own.value?.paused, branch.value?.timezone))
  watch(() => Boolean(own.value?.paused), (is, _, onCleanup) => {
    if (!is) return
    const timer = setInterval(() => void load(), every) // staff may resume at any time
    onCleanup(() => {
      clearInterval(timer)
    })
  }, { immediate: true })
  return { menu: own, closed, paused }
}
