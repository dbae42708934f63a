import { computed, shallowRef } from 'vue'

import { isFault } from '@shared/api/fault'

/**
 * The new total that the customer has to accept after a refusal because of changed prices, or 0. It is that of the refused
 * order, so any other one, such as with more dishes or a voucher, has none.
 *
 * @param wish what the next order takes
 */
export function useChangedTotal(wish: () => unknown) {
  const changed = shallowRef<{ total: number; of: string }>()
  const of = computed(() => JSON.stringify(wish()))
  const asked = computed(() => (changed.value?.of === of.value ? changed.value.total : 0))

  /** Follows a refusal; every other one ends the question. */
  function refused(e: unknown): void {
    changed.value = isFault(e, 'price_changed') ? { total: e.currentTotal ?? 0, of: of.value } : undefined
  }

  return { asked, refused }
}
