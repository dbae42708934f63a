import { ref, shallowRef } from 'vue'

/** Whether the current view hides the frame and uses the whole page. */
export const frameless = ref(false)

/** The components of the frame around every page except the login, once they are loaded. */
export const frame = shallowRef<Awaited<ReturnType<typeof parts>>>()

const parts = () => import('./frameParts')

/**
 * Loads the frame before the first page that needs it. The login page does not wait for it, and no page moves after it was
 * drawn.
 */
export async function loadFrame(): Promise<void> {
  frame.value ??= await parts()
}
