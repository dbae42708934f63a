import { computed, ref } from 'vue'

import { localized } from '../menu/localized'
import { branch, branchId } from '../shell/branch'
import { moment, t } from '../shell/i18n'
import { useAsk, useDo } from '../shell/query'
import { api } from '../shell/session'
import type { ItemAvailability, OffItem } from './availability'

/** The interval of reloads in ms. Orders and other devices change the availability. */
const often = 3_000

/** The availability of the branch's menu and its actions. */
export function useAvailability() {
  const path = computed(() => ({ id: Number(branchId.value) }))
  const asked = useAsk(
    'availability', () => api.GET('/api/branches/{id}/availability', { params: { path: path.value } }), [],
    { enabled: () => branchId.value !== '', every: often },
  )
  const touches = ['availability']
  const name = ref('') // of the item that was last 86'd or restored, for the message

  const takeOff = useDo(
    ({ itemId, until }: { itemId: string; until: string }) =>
      api.POST('/api/menu-items/{id}/86', { params: { path: { id: Number(itemId) } }, body: { until } }),
    { touches, done: (off) => hits(name.value, off) },
  )
  const restore = useDo(
    (itemId: string) => api.POST('/api/menu-items/{id}/restore', { params: { path: { id: Number(itemId) } } }),
    { touches, done: () => t('availability.restored', { name: name.value }) },
  )
  const pause = useDo(
    (body: Pause) => api.POST('/api/branches/{id}/pause', { params: { path: path.value }, body }),
    { touches: [...touches, 'branches'], done: () => t('availability.paused') },
  )
  const resume = useDo(() => api.POST('/api/branches/{id}/resume', { params: { path: path.value } }), {
    touches: [...touches, 'branches'], done: () => t('availability.resumed'),
  })

  return {
    asked, pause, resume,
    busy: computed(() => takeOff.isPending.value || restore.isPending.value),
    takeOff: (i: ItemAvailability, until: string) => {
      name.value = localized(i.names)
      return takeOff.mutateAsync({ itemId: i.itemId, until })
    },
    restore: (i: ItemAvailability) => {
      name.value = localized(i.names)
      restore.mutate(i.itemId)
    },
  }
}

interface Pause {
  reasonCode?: 'BUSY' | 'STAFF' | 'TECHNICAL' | 'EVENT'
  reasons?: Record<string, string>
  until: string
}

/** The text about the orders and carts that contained a dish when it was 86'd. */
export function hits(name: string, off: OffItem): string {
  const said = [t('availability.taken_off', { name })]
  if (off.holds > 0) said.push(t('availability.hit_holds', { count: off.holds, units: off.heldUnits }))
  if (off.carts > 0) said.push(t('availability.hit_carts', { count: off.carts }))
  if (said.length === 1) said.push(t('availability.hit_none'))
  return said.join(' ')
}

/** The end as text. */
export function endText(until: string | null): string {
  if (until === null || until === 'RESTORED') return t('availability.until_restored')
  return t('availability.until', { time: moment(until, branch.value?.timezone) })
}
