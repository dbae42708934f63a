import type { components } from '@shared/api/schema'
import { hasText, t } from '../shell/i18n'
import { localized } from './localized'

export type TemplateDish = components['schemas']['CatalogReadyDish']

/** The name of a template. A newer server may have templates without a text here. */
export function templateName(name: string): string {
  const key = `menu.template_${name.replaceAll('-', '_')}`
  return hasText(key) ? t(key) : name
}

/** Dishes by category, in the order of the template. */
export function byCategory(dishes: TemplateDish[]): { name: Record<string, string>; dishes: TemplateDish[] }[] {
  const all = new Map<string, { name: Record<string, string>; dishes: TemplateDish[] }>()
  for (const d of dishes) {
    const name = localized(d.category)
    const course = all.get(name) ?? { name: d.category, dishes: [] }
    course.dishes.push(d)
    all.set(name, course)
  }
  return [...all.values()]
}
