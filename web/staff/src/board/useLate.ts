import { computed, shallowRef, triggerRef, watch, type Ref } from 'vue'

import { ring } from './bell'
import { narrow, type Board } from './boardLayout'
import { LateTickets, lateTickets } from './late'

/** The unacknowledged late tickets of a station. They ring every two minutes. */
export function useLate(board: Ref<Board | undefined>, station: Ref<string>, now: Ref<number>) {
  const known = shallowRef(new LateTickets())
  const late = computed(() => {
    const b = board.value
    return b ? lateTickets(narrow(b.tickets, station.value), b.thresholds, now.value) : []
  })
  watch(late, (all) => {
    if (known.value.due(all, now.value)) ring(true)
  }, { immediate: true })
  return {
    late: computed(() => known.value.untouched(late.value)),
    touch: (...ids: string[]) => {
      known.value.touch(ids)
      triggerRef(known)
    },
  }
}
