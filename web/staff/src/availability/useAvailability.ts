import { computed } from 'vue'

import { branch, branchId } from '../shell/branch'
import { moment, t } from '../shell/i18n'
import { useAsk, useDo } from '../shell/query'
import { api } from '../shell/session'
import type { OffItem } from './availability'

/** The interval of reloads in ms. Orders and other devices change the availability. */
const often = 3_000

/** The availability of the branch's menu, and the pause of ordering. */
export function useAvailability() {
  const path = computed(() => ({ id: Number(branchId.value) }))
  const asked = useAsk(
    'availability', () => api.GET('/api/branches/{id}/availability', { params: { path: path.value } }), [],
    { enabled: () => branchId.value !== '', every: often },
  )
  const touches = ['availability']
  const pause = useDo(
    ({ branch, ...body }: Pause & { branch: string }) => api.POST('/api/branches/{id}/pause', { params: { path: { id: Number(branch) } }, body }),
    { touches: [...touches, 'branches'], done: () => t('availability.paused') },
  )
  const resume = useDo((branch: string) => api.POST('/api/branches/{id}/resume', { params: { path: { id: Number(branch) } } }), {
    touches: [...touches, 'branches'], done: () => t('availability.resumed'),
  })

  return { asked, pause, resume }
}

export interface Pause {
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
