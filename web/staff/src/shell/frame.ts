import { ref, shallowRef } from 'vue'

/** Whether a view wants the whole page for itself at the moment. */
export const frameless = ref(false)

/** What surrounds every page but the login, once it is loaded. */
export const frame = shallowRef<Awaited<ReturnType<typeof parts>>>()

const parts = () => import('./frameParts')

/**
 * Loads the frame before the first page that has one, so that the login is there without it and no page is drawn first
 * and moved then.
 */
export async function loadFrame(): Promise<void> {
  frame.value ??= await parts()
}
