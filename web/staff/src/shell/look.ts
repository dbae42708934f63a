import { watch } from 'vue'
import { createVuetify, type ThemeDefinition } from 'vuetify'
import { aliases, mdi } from 'vuetify/iconsets/mdi-svg'
import 'vuetify/styles/core'
import 'vuetify/styles/utilities'

import { componentTexts, language } from './i18n'
import { theme } from './theme'

const variables = { 'medium-emphasis-opacity': 0.78, 'high-emphasis-opacity': 1, 'disabled-opacity': 0.5 }

// The product's colours, the same as the guest app's in shared/styles/tokens.css.
const light: ThemeDefinition = {
  dark: false,
  variables: { ...variables, 'border-color': '#6b4a2c', 'border-opacity': 0.2 },
  colors: {
    background: '#f6efe4', surface: '#fffdf9', 'on-surface': '#2b1a12', 'on-background': '#2b1a12',
    'surface-variant': '#4a362b', 'on-surface-variant': '#fff8f0', 'surface-light': '#f1e7d8', 'surface-bright': '#fffdf9', 'on-surface-bright': '#2b1a12',
    primary: '#a8321f', 'on-primary': '#fff8f0', secondary: '#695347', 'on-secondary': '#fff8f0',
    success: '#2c6444', 'on-success': '#ffffff', warning: '#7a4a00', 'on-warning': '#ffffff',
    error: '#97231f', 'on-error': '#ffffff', info: '#1f5fa8', 'on-info': '#ffffff',
  },
}
const dark: ThemeDefinition = {
  dark: true,
  variables: { ...variables, 'border-color': '#f8ecdf', 'border-opacity': 0.18 },
  colors: {
    background: '#17100c', surface: '#231914', 'on-surface': '#f8ecdf', 'on-background': '#f8ecdf',
    'surface-variant': '#e4d3c4', 'on-surface-variant': '#2b1a12', 'surface-light': '#32241c', 'surface-bright': '#f8ecdf', 'on-surface-bright': '#2b1a12',
    primary: '#f08a6a', 'on-primary': '#2a0d05', secondary: '#cdb8a8', 'on-secondary': '#231914',
    success: '#8fd3a6', 'on-success': '#0d2616', warning: '#ffd590', 'on-warning': '#2e1f02',
    error: '#ffb4a6', 'on-error': '#3a0b05', info: '#8fc1ff', 'on-info': '#04203f',
  },
}

export const vuetify = createVuetify({
  theme: { defaultTheme: 'system', themes: { light, dark } },
  icons: { defaultSet: 'mdi', aliases, sets: { mdi } },
  defaults: {
    VBtn: { variant: 'tonal', minHeight: 44 },
    VCard: { variant: 'flat', border: true, rounded: 'lg' },
    VTextField: { variant: 'outlined', density: 'comfortable', color: 'primary' },
    VCombobox: { variant: 'outlined', density: 'comfortable', color: 'primary' },
    VTextarea: { variant: 'outlined', density: 'comfortable', color: 'primary' },
    VSelect: { variant: 'outlined', density: 'comfortable', color: 'primary' },
    VAutocomplete: { variant: 'outlined', density: 'comfortable', color: 'primary' },
    VNumberInput: { variant: 'outlined', density: 'comfortable', color: 'primary', controlVariant: 'stacked' },
    VAlert: { variant: 'tonal' },
    VSwitch: { color: 'primary', inset: true },
    VDialog: { maxWidth: 520 },
  },
})

// The components change their language together with the texts.
watch(language, (l) => {
  const { messages, current } = vuetify.locale
  if (componentTexts[l]) messages.value = { ...messages.value, [l]: componentTexts[l] }
  current.value = l
}, { immediate: true, flush: 'sync' })

watch(theme, (to) => void vuetify.theme.change(to), { immediate: true, flush: 'sync' })

interface Head {
  style: { textContent: string }[]
}

/**
 * Applies the theme's rules as a constructed style sheet. Vuetify would write them into a style element, which the content
 * security policy forbids. It is provided as `usehead`, the key under which Vuetify looks for a library that writes into
 * the page's head.
 */
export function sheetHead() {
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  return {
    push(head: () => Head) {
      const write = () => {
        sheet.replaceSync(head().style[0]?.textContent ?? '')
      }
      write()
      return { patch: write }
    },
  }
}
