import { computed, shallowRef, watch } from 'vue'

import { canonical, defaultsOf, missingGroup, offered, unitPrice, type Choice } from '@shared/options'

import type { MenuItem } from '../api/dto'

/**
 * The options that a guest chooses for a dish, at first its defaults or the given choices. Options that sell out while the
 * dish is shown are removed.
 */
export function useChoices(item: () => MenuItem | undefined, given: () => readonly Choice[] | null | undefined) {
  const choices = shallowRef<Choice[]>([])
  let begun = false

  watch(item, (dish) => {
    if (!dish) return
    const before = begun ? choices.value : given()
    choices.value = before ? offered(dish.groups, before) : defaultsOf(dish.groups)
    begun = true
  }, { immediate: true })

  return {
    choices,
    /** The chosen options in canonical order. */
    sorted: computed(() => canonical(item()?.groups, choices.value)),
    unit: computed(() => {
      const dish = item()
      return dish ? unitPrice(dish, choices.value) : 0
    }),
    /** The first group that is not complete. */
    missing: computed(() => missingGroup(item()?.groups, choices.value)),
  }
}
