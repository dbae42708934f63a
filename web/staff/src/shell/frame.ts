import { ref, shallowRef, type App, type Component } from 'vue'

/** Whether the current view hides the frame and uses the whole page. */
export const frameless = ref(false)

/** The component that shows every page except the plain ones, once it is loaded. */
export const frame = shallowRef<Component>()

let host: App | undefined

/** Sets the application that loadFrame extends. */
export function setHost(app: App): void {
  host = app
}

/**
 * Loads the frame with Vuetify and the query cache, before the first page that needs them. The login page does not wait for
 * them, and no page moves after it was drawn.
 */
export async function loadFrame(): Promise<void> {
  const { AppShell, install } = await import('./frameParts')
  if (frame.value || !host) return
  install(host)
  frame.value = AppShell
}
