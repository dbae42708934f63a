import { shallowRef, watch } from 'vue'

import type { Language } from '@shared/i18n/languages'
import { language } from '../shell/i18n'
import type { Permission, Role } from './people'

/** What a language calls that which the server names in English: permissions by route, delivered roles by description. */
export interface Wording {
  modules: Record<string, string>
  permissions: Record<string, string>
  roles: Record<string, string>
}

// They come with the first page that shows them, and not with the catalogue: few people ever look at permissions.
const load: Partial<Record<Language, () => Promise<{ default: Wording }>>> = {
  vi: () => import('./permissions/vi.json'),
  'zh-Hant': () => import('./permissions/zh-Hant.json'),
}

/** What there is in the language that is shown: nothing where it has none, and nothing until it is here. */
export function useInLanguage<T>(from: Partial<Record<Language, () => Promise<{ default: T }>>>) {
  const found = shallowRef<T>()
  watch(language, async (l) => {
    const read = await from[l]?.().catch(() => undefined) // what the server calls it does as well
    if (l === language.value) found.value = read?.default
  }, { immediate: true })
  return found
}

/** The wording of the language that is shown. There is none for English. */
export const useWording = () => useInLanguage(load)

/** What a module is called. */
export function moduleName(module: string, wording?: Wording): string {
  return wording?.modules[module] ?? module
}

/** What a permission is called. One that a newer server has is called as the server calls it, in English. */
export function permissionName(p: Pick<Permission, 'method' | 'apiPath' | 'name'>, wording?: Wording): { text: string; lang?: 'en' } {
  const text = wording?.permissions[`${p.method} ${p.apiPath}`]
  return text ? { text } : { text: p.name, lang: 'en' }
}

/** What a role is for. What a house has written itself is shown as it is, and so is a description that it has changed. */
export function purpose(r: Pick<Role, 'description' | 'isDelivered'>, wording?: Wording): string {
  return (r.isDelivered ? wording?.roles[r.description] : undefined) ?? r.description
}
