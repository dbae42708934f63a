import { computed, ref, watch } from 'vue'

import { whole } from '../menu/figures'
import { branchId } from '../shell/branch'
import { useFormDo } from '../shell/formDo'
import { t } from '../shell/i18n'
import { useAsk } from '../shell/query'
import { api } from '../shell/session'
import type { RecipeOwner } from './level'

/** The API's limits of lines in a recipe, and of units in a line. */
export const maxLines = 10
const maxUnits = 1_000_000

/** The units of a line as typed; undefined for anything but a positive number. */
export const units = (typed: string) => whole(typed, maxUnits) || undefined

/** Reads, edits and saves the recipe of a dish or an option. After a save, `finish` closes the dialog. */
export function useRecipe(item: () => RecipeOwner | undefined, finish: () => void) {
  const option = computed(() => {
    const owner = item()
    return owner && 'optionId' in owner ? owner : undefined
  })
  const dish = computed(() => {
    const owner = item()
    return { id: owner && 'itemId' in owner ? Number(owner.itemId) : 0 }
  })
  const place = computed(() => ({ id: Number(branchId.value), optionId: Number(option.value?.optionId) }))
  const asked = useAsk(
    'recipe',
    () => (option.value
      ? api.GET('/api/branches/{id}/options/{optionId}/recipe', { params: { path: place.value } })
      : api.GET('/api/menu-items/{id}/recipe', { params: { path: dish.value } })),
    () => [dish.value.id, option.value && place.value],
    { enabled: () => item() !== undefined },
  )

  const lines = ref<{ itemId: string; typed: string }[]>([])
  let filled = '' // the lines as they were read
  // A later answer shows what a colleague has changed, unless the user has edited the lines meanwhile.
  watch([item, asked.data], ([owner], [before]) => {
    if (owner === before && filled !== '' && JSON.stringify(lines.value) !== filled) return
    lines.value = (asked.data.value?.lines ?? []).map((l) => ({ itemId: l.itemId, typed: String(l.quantity) }))
    filled = asked.data.value ? JSON.stringify(lines.value) : ''
  }, { immediate: true })

  const save = useFormDo(
    item,
    () => {
      const body = { lines: lines.value.map((l) => ({ itemId: l.itemId, quantity: units(l.typed) ?? 1 })) }
      const [ofOption, ofDish] = [place.value, dish.value]
      return option.value
        ? () => api.PUT('/api/branches/{id}/options/{optionId}/recipe', { params: { path: ofOption }, body })
        : () => api.PUT('/api/menu-items/{id}/recipe', { params: { path: ofDish }, body })
    },
    { touches: ['recipe', 'availability'], done: () => t('stock.recipe_saved'), finish },
  )
  return {
    option,
    asked,
    lines,
    /** Whether the lines can be saved. A recipe that has not been read would be saved without lines, which removes it. */
    good: computed(() => asked.data.value !== undefined && lines.value.every((l) => units(l.typed) !== undefined)),
    save,
  }
}
