import type { components } from '@shared/api/schema'

type Shown = components['schemas']['BrandView']
/** The brand with nullable objects, which the schema cannot express. */
export type Brand = Omit<Shown, 'palette' | 'logo' | 'cover'> & { [K in 'palette' | 'logo' | 'cover']: Shown[K] | null }
export type Palette = components['schemas']['BrandPaletteView']
export type Shades = components['schemas']['BrandShadesView']

/** The languages of the guest app, as the API names them. */
export const locales = ['vi', 'zh-TW', 'en']

/** The guest app's own colours, for a restaurant without its own; see web/shared/styles/tokens.css. */
export const standard: Palette = {
  light: shades('#a8321f', '#8c2415', '#a8321f', '#fff8f0'),
  dark: shades('#f08a6a', '#f4a287', '#f7a78d', '#2a0d05'),
}

function shades(accent: string, deep: string, ink: string, onAccent: string): Shades {
  return { accent, deep, ink, onAccent, isAdjusted: false, textContrast: 0, surfaceContrast: 0 }
}

/** Whether a text is a colour in the API's format. */
export function isColour(text: string): boolean {
  return /^#[0-9a-f]{6}$/i.test(text)
}

export interface Form {
  name: string
  accent: string
  address: string
  phone: string
  welcomeTitle: Record<string, string>
  welcomeText: Record<string, string>
}

/** The form's fields of a brand. */
export function formOf(b: Brand): Form {
  const { name, accent, address, phone } = b
  return { name, accent, address, phone, welcomeTitle: { ...b.welcomeTitle }, welcomeText: { ...b.welcomeText } }
}

/** The fields of a form that differ from the brand, as a change of it. */
export function changesOf(form: Form, b: Brand): Partial<Form> {
  const wanted: Form = {
    name: form.name.trim(), accent: form.accent.trim(), address: form.address.trim(), phone: form.phone.trim(),
    welcomeTitle: said(form.welcomeTitle), welcomeText: said(form.welcomeText),
  }
  const now = formOf(b)
  const changed = (Object.keys(wanted) as (keyof Form)[]).filter((k) => !same(wanted[k], now[k]))
  return Object.fromEntries(changed.map((k) => [k, wanted[k]]))
}

function said(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([l, s]) => [l, s.trim()] as const).filter(([, s]) => s !== ''))
}

function same(a: string | Record<string, string>, b: string | Record<string, string>): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((l) => (a[l] ?? '') === (b[l] ?? ''))
}
