import { shallowRef, watch } from 'vue'

import type { Language } from '@shared/i18n/languages'
import { language } from '../shell/i18n'
import type { Permission, Role } from './people'

/** Translations of the server's English texts: permissions by route, built-in roles by description. */
export interface Wording {
  modules: Record<string, string>
  permissions: Record<string, string>
  roles: Record<string, string>
}

// The pages that show the translations load them, because few users open the permissions.
const load: Partial<Record<Language, () => Promise<{ default: Wording }>>> = {
  vi: () => import('./permissions/vi.json'),
  'zh-Hant': () => import('./permissions/zh-Hant.json'),
}

/** Loads the data of the current language. The result is undefined during loading and for a language without data. */
export function useInLanguage<T>(from: Partial<Record<Language, () => Promise<{ default: T }>>>) {
  const found = shallowRef<T>()
  watch(language, async (l) => {
    const read = await from[l]?.().catch(() => undefined) // the server's text is shown
    if (l === language.value) found.value = read?.default
  }, { immediate: true })
  return found
}

/** The translations of the current language. English needs none. */
export const useWording = () => useInLanguage(load)

/** The name of a module. */
export function moduleName(module: string, wording?: Wording): string {
  return wording?.modules[module] ?? module
}

/** The name of a permission. Without a translation, it is the server's English name. */
export function permissionName(p: Pick<Permission, 'method' | 'apiPath' | 'name'>, wording?: Wording): { text: string; lang?: 'en' } {
  const text = wording?.permissions[`${p.method} ${p.apiPath}`]
  return text ? { text } : { text: p.name, lang: 'en' }
}

// Built-in roles keep the description of the release that created them. This table maps earlier descriptions to current ones.
const earlier: Readonly<Record<string, string>> = {
  'Owns the house; may do everything, always.': 'Owns the restaurant and can do everything.',
  'Administers the installation in all branches.': 'Administers accounts, settings and the system of all branches.',
  'Runs branches: menus, tables, orders, staff.': 'Runs branches: menus, tables, orders and people.',
  'Takes money and cancels orders.': 'Takes payments and cancels orders.',
  'Sees orders and takes dishes off the day.': 'Sees orders and 86’s dishes.',
  'Waits at tables: visits and orders.': 'Serves tables and sees their orders.',
  'A member: a guest with an account.': 'A guest with an account.',
}

/** The description of a role. Only descriptions of built-in roles are translated. */
export function purpose(r: Pick<Role, 'description' | 'isDelivered'>, wording?: Wording): string {
  if (!r.isDelivered) return r.description
  const description = earlier[r.description] ?? r.description
  return wording?.roles[description] ?? description
}
