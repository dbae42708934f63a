// Loaded as one file by frame.ts.
import { VueQueryPlugin } from '@tanstack/vue-query'
import type { App } from 'vue'

import { forgetBranches } from './branch'
import { sheetHead, vuetify } from './look'
import { queries } from './query'
import { onLeave } from './session'
import '../styles.css' // after Vuetify's styles: cascade layers are ordered by their first occurrence

export { default as AppShell } from './AppShell.vue'

/** Adds Vuetify and the query cache to the application. */
export function install(app: App): void {
  app.provide('usehead', sheetHead()).use(vuetify).use(VueQueryPlugin, { queryClient: queries })
  // A change of the user clears all cached answers.
  onLeave(() => {
    queries.clear()
    forgetBranches()
  })
}
