import { ref, shallowRef, type App, type Component } from 'vue'

import { reloadStylesheets } from '@shared/stylesheets'

/** Whether the current view hides the frame and uses the whole page. */
export const frameless = ref(false)

/** The component that shows every page except the plain ones, once it is loaded. */
export const frame = shallowRef<Component>()

let host: App | undefined

/** Sets the application that loadFrame extends. */
export function setHost(app: App): void {
  host = app
}

let loading: Promise<void> | undefined

/**
 * Loads the frame with Vuetify and the query cache, before the first page that needs them. The login page does not wait for
 * them, and no page moves after it was drawn. Concurrent calls share one attempt: Vite makes only the first import wait for
 * the styles.
 */
export function loadFrame(): Promise<void> {
  loading ??= load().catch((e: unknown) => {
    loading = undefined
    throw e
  })
  return loading
}

async function load(): Promise<void> {
  await reloadStylesheets()
  const { AppShell, install } = await import('./frameParts')
  if (!host) return
  install(host)
  frame.value = AppShell
}
