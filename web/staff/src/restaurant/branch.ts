import type { components } from '@shared/api/schema'
import type { Branch } from '../shell/branch'

export type Country = components['schemas']['CatalogCountry']

/** The fields of a new branch. Empty texts are not filled in yet. */
export interface NewBranch {
  name: string
  country: string
  timezone: string
  locales: string[]
  bizDayStartHour: number
}

/** The possible languages of menus. */
export const menuLocales = ['vi', 'zh-TW', 'en', 'ja', 'th', 'de']

/** The hours of a day, as a select shows them. */
export const dayHours = Array.from({ length: 24 }, (_, h) => ({ value: h, title: `${String(h).padStart(2, '0')}:00` }))

/** A branch without a name, in the country of the browser's language. */
export function emptyBranch(tags: readonly string[] = navigator.languages): NewBranch {
  const country = tags.map((tag) => regionOf(tag)).find((r) => r !== '') ?? ''
  return { name: '', country: country === '' ? 'VN' : country, timezone: '', locales: [], bizDayStartHour: 4 }
}

function regionOf(tag: string): string {
  try {
    return new Intl.Locale(tag).region ?? ''
  } catch {
    return ''
  }
}

/** The browser's time zone if it is one of several of the country. A country with one needs no choice. */
export function zoneOf(profile: Country, here = Intl.DateTimeFormat().resolvedOptions().timeZone): string {
  return profile.timezones.length > 1 && profile.timezones.includes(here) ? here : ''
}

/** The missing fields that the country does not determine. */
export function missingOf(b: NewBranch, profile: Country | undefined): ('branch_name' | 'country' | 'timezone' | 'locales')[] {
  const fields = {
    branch_name: b.name.trim() !== '',
    country: profile !== undefined,
    timezone: !profile || profile.timezones.length < 2 || profile.timezones.includes(b.timezone),
    locales: !profile || b.locales.length > 0,
  }
  return (Object.keys(fields) as (keyof typeof fields)[]).filter((f) => !fields[f])
}

/** The request that creates a branch. Its id makes a repeated request idempotent. */
export function bodyOf(b: NewBranch, clientTxnId: string) {
  const { timezone, ...rest } = b
  return { ...rest, name: b.name.trim(), ...(timezone ? { timezone } : {}), clientTxnId }
}

/** The fields of a branch that its form edits. Texts are empty instead of null. */
export type BranchFields = Pick<Branch, 'name' | 'locales' | 'bizDayStartHour' | 'isOpen' | 'sharedCart' | 'currency' | 'timezone'>
  & { country: string; mailFrom: string }

/**
 * The fields of a form that differ from the branch as it was when the form was opened. The others are not sent: a colleague
 * may have changed them since, and the server may refuse an hour near midnight even if it is the same.
 */
export function branchChanges(form: BranchFields, opened: Branch): Partial<BranchFields> {
  const wanted: BranchFields = { ...form, name: form.name.trim(), mailFrom: form.mailFrom.trim() }
  const was = { ...opened, country: opened.country ?? '', mailFrom: opened.mailFrom ?? '' }
  const same = (k: keyof BranchFields) => JSON.stringify(wanted[k]) === JSON.stringify(was[k]) // locales are a list
  return Object.fromEntries(Object.entries(wanted).filter(([k]) => !same(k as keyof BranchFields)))
}
