import { computed, shallowRef } from 'vue'

import type { Answer } from '@shared/api/client'
import { branchId } from '../shell/branch'
import { useOpening } from '../shell/formDo'
import { t } from '../shell/i18n'
import { useDo } from '../shell/query'
import { api } from '../shell/session'
import type { OffItem } from './availability'
import { hits } from './useAvailability'

/** A dish or an option that is taken off or put back on sale. */
export interface OffTarget {
  name: string
  itemId?: string
  optionId?: string
  held?: number // units that unpaid orders hold, if known
}

/** Takes dishes and options off after a question, and puts them back on sale. */
export function useOff() {
  const at = (o: OffTarget) => ({ params: { path: { id: Number(branchId.value), optionId: Number(o.optionId) } } })
  const item = (o: OffTarget) => ({ params: { path: { id: Number(o.itemId) } } })
  const touches = ['availability', 'version']

  const takeOff = useDo(
    ({ target: o, until }: { target: OffTarget; until: string }): Promise<Answer<OffItem | { optionId: string }>> =>
      o.optionId
        ? api.POST('/api/branches/{id}/options/{optionId}/off', { ...at(o), body: { until } })
        : api.POST('/api/menu-items/{id}/86', { ...item(o), body: { until } }),
    { touches, done: (result, { target: o }) => ('carts' in result ? hits(o.name, result) : t('availability.taken_off', { name: o.name })) },
  )
  const restore = useDo(
    (o: OffTarget): Promise<Answer<unknown>> =>
      o.optionId
        ? api.POST('/api/branches/{id}/options/{optionId}/on', at(o))
        : api.POST('/api/menu-items/{id}/restore', item(o)),
    { touches, done: (_, o) => t('availability.restored', { name: o.name }) },
  )
  const target = shallowRef<OffTarget>() // that the dialog asks about
  const opened = useOpening(() => target.value)

  async function off(until: string): Promise<void> {
    if (!target.value) return
    const isShown = opened()
    await takeOff.mutateAsync({ target: target.value, until }).then(() => {
      if (isShown()) target.value = undefined // the dialog may ask about another dish by now
    }, () => undefined)
  }

  return {
    target, off, restore,
    busy: computed(() => takeOff.isPending.value || restore.isPending.value),
  }
}
