import { computed, ref } from 'vue'

import { chooseLanguage, languages, setLanguage, type Language } from '@shared/i18n'

export type Theme = 'auto' | 'light' | 'dark'

// Stored until the tab is closed. Only the visit is stored longer.
const languageKey = 'comanda.language'
const themeKey = 'comanda.theme'

/** The colour scheme; auto follows the device. */
export const theme = ref<Theme>('auto')

const device = matchMedia('(prefers-color-scheme: dark)')
const deviceDark = ref(device.matches)
device.addEventListener('change', () => {
  deviceDark.value = device.matches
})

/** Whether the page is dark now. */
export const dark = computed(() => (theme.value === 'auto' ? deviceDark.value : theme.value === 'dark'))

/** Applies the guest's stored preferences, or those of the device. */
export async function restorePreferences(): Promise<void> {
  const kept = recall(themeKey)
  if (kept === 'light' || kept === 'dark') setTheme(kept)
  const l = recall(languageKey)
  await setLanguage(l && l in languages ? (l as Language) : chooseLanguage(navigator.languages))
}

export function setTheme(t: Theme): void {
  theme.value = t
  if (t === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = t
  remember(themeKey, t)
}

export async function changeLanguage(l: Language): Promise<void> {
  await setLanguage(l)
  remember(languageKey, l)
}

/** Returns a value that this tab has stored; null if there is none. */
export function recall(key: string): string | null {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

/** Stores a value until the tab is closed. */
export function remember(key: string, value: string): void {
  try {
    sessionStorage.setItem(key, value)
  } catch {
    // Without storage, the choice lasts until the next reload.
  }
}
