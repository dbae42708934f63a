import { computed, watch } from 'vue'

import { useNow } from '@shared/time'

import { closedText, loadAtChange } from '../menu/hours'
import { pauseDetails } from '../menu/pause'
import { useBasket } from './basket'
import { useBranches } from './branches'
import { m } from './texts'

const every = 20_000 // ms between two loads of the menu of a paused branch

/**
 * Why the branch of the cart takes no orders now: it is closed, or paused. Both are undefined while it takes orders. While the
 * loaded menu is another branch's, only the opening hours are known.
 */
export function useCartBranch() {
  const basket = useBasket()
  const { branches, branch, menu, load } = useBranches()
  const now = useNow()
  const own = computed(() => (basket.branchId === branch.value?.id ? menu.value : undefined))
  const at = computed(() => branches.value?.find((b) => b.id === basket.branchId))
  const closed = computed(() => {
    if (own.value) return closedText(own.value.closed, at.value?.timezone)
    const opensAt = at.value?.opensAt // at the time when the branches were loaded
    return opensAt && Date.parse(opensAt) > now.value ? closedText({ opensAt }, at.value.timezone) : undefined
  })
  const paused = computed(() => {
    const pause = own.value?.paused
    return pause ? `${m('fault.closed')} ${pauseDetails(pause, at.value?.timezone)}`.trim() : undefined
  })
  loadAtChange(() => menu.value, load)
  watch(() => Boolean(own.value?.paused), (is, _, onCleanup) => {
    if (!is) return
    const timer = setInterval(() => void load(), every) // staff may resume at any time
    onCleanup(() => {
      clearInterval(timer)
    })
  }, { immediate: true })
  return { menu: own, closed, paused }
}
