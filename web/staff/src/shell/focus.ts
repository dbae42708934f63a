import { nextTick, onBeforeUnmount, watch } from 'vue'

/** Moves the focus to the page's content, so that the next Tab leads to its first element. */
export function focusContent(): void {
  document.getElementById('main')?.focus({ preventScroll: true })
}

/**
 * Moves the focus to an element of a part of the page after it was rendered: to a field that a button has added, or to what
 * stays when the focused element is removed. The last match gets the focus.
 */
export async function focusIn(part: () => HTMLElement | null | undefined, selector: string, options?: FocusOptions): Promise<void> {
  await nextTick()
  const found = part()?.querySelectorAll<HTMLElement>(selector)
  found?.[found.length - 1]?.focus(options)
}

/**
 * Returns the focus to the element that had it before a dialog opened, such as its button. Vuetify does so only for dialogs
 * that contain their button. If the element is gone, the page's content gets the focus.
 */
export function useFocusReturn(open: () => boolean): void {
  let opener: HTMLElement | null = null

  async function giveBack() {
    await nextTick()
    const now = document.activeElement
    if (now && now !== document.body && !now.closest('[role=dialog]')) return // it was moved on purpose
    opener?.focus({ preventScroll: true })
    if (!opener || document.activeElement !== opener) focusContent()
  }

  watch(open, (is, was) => {
    if (is) opener = lasting(document.activeElement)
    else if (was) void giveBack()
  }, { immediate: true })
  onBeforeUnmount(() => {
    if (open()) void giveBack()
  })
}

/** The element itself, or the button of the menu that it belongs to: the menu closes. */
function lasting(element: Element | null): HTMLElement | null {
  const menu = element?.closest('.v-menu')?.id
  const button = menu ? document.querySelector(`[aria-controls="${CSS.escape(menu)}"]`) : null
  const found = button ?? element
  // In Safari a clicked button has no focus.
  return found instanceof HTMLElement && found !== document.body ? found : null
}
