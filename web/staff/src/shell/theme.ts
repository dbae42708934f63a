import { computed, ref } from 'vue'

import { recall, remember } from './storage'

export type Theme = 'system' | 'light' | 'dark'

const chosen = ref<Theme>('system')

/** The selected theme; `system` follows the device. */
export const theme = computed(() => chosen.value)

export function changeTheme(to: Theme): void {
  apply(to)
  remember('theme', to)
}

/** Applies the stored theme. */
export function restoreTheme(): void {
  const kept = recall('theme')
  if (kept === 'light' || kept === 'dark') apply(kept)
}

/** Selects a theme for the colours of shared/styles/tokens.css; look.ts selects Vuetify's. */
function apply(to: Theme): void {
  chosen.value = to
  if (to === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = to
}
