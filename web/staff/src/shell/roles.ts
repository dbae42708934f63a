import { hasText, t } from './i18n'

/** The name of a role in the current language. A role of the restaurant's own has the name that was typed for it. */
export function roleName(role: string): string {
  const key = `shell.role_${role}`
  return hasText(key) ? t(key) : role
}
