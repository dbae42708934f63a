import { nextTick } from 'vue'

import { focusIn } from '../shell/focus'

/**
 * Runs a step of a ticket. The ticket moves to another column, and its pressed button is removed: a focus that is lost with it
 * goes to the ticket, or to its neighbour if the ticket is no longer shown. After a tap the board does not scroll to it.
 */
export async function keepFocus(wall: () => HTMLElement | null, id: string, step: () => Promise<void>): Promise<void> {
  const selector = (of: string) => `[data-ticket="${of}"]`
  const find = () => wall()?.querySelector(selector(id))
  const preventScroll = !(document.activeElement?.matches(':focus-visible') ?? false)
  const card = find()
  const near = card?.nextElementSibling ?? card?.previousElementSibling
  await step()
  await nextTick()
  if (document.activeElement && document.activeElement !== document.body) return // it was not lost
  const other = near instanceof HTMLElement ? near.dataset.ticket ?? '' : ''
  await focusIn(wall, selector(find() ? id : other), { preventScroll })
}
