import { computed, watch } from 'vue'

import { closedText } from '../menu/hours'
import { pauseDetails } from '../menu/pause'
import { useBasket } from './basket'
import { useBranches } from './branches'
import { m } from './texts'

const every = 20_000 // ms between two loads of the menu of a paused branch

/**
 * Why the branch of the cart takes no orders now: it is closed, or paused. Both are undefined while it takes orders, and while
 * the loaded menu is another branch's.
 */
export function useCartBranch() {
  const basket = useBasket()
  const { branch, menu, load } = useBranches()
  const own = computed(() => (basket.branchId === branch.value?.id ? menu.value : undefined))
  const closed = computed(() => closedText(own.value?.closed, branch.value?.timezone))
  const paused = computed(() => {
    const pause = own.value?.paused
    return pause ? `${m('fault.closed')} ${pauseDetails(pause, branch.value?.timezone)}`.trim() : undefined
  })
  watch(() => Boolean(own.value?.paused), (is, _, onCleanup) => {
    if (!is) return
    const timer = setInterval(() => void load(), every) // staff may resume at any time
    onCleanup(() => {
      clearInterval(timer)
    })
  }, { immediate: true })
  return { menu: own, closed, paused }
}
