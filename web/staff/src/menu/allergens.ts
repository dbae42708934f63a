import type { components } from '@shared/api/schema'
import { allergens, diets, suitsDiet, type Allergen, type Diet } from '@shared/allergens'

import { language, t } from '../shell/i18n'

type Schemas = components['schemas']

/** What a dish or an option declares, as a form edits it. */
export interface Declaration {
  declared: boolean // false: guests read that they should ask
  contains: Allergen[]
  mayContain: Allergen[]
  diets: Diet[]
}

/** The form of a dish or an option; empty for a new one. The API has null where nothing is declared. */
export function declarationOf(of: { allergens: unknown; diets: Diet[] } | undefined): Declaration {
  const a = of?.allergens as Schemas['CatalogAllergens'] | null | undefined
  return { declared: Boolean(a), contains: [...(a?.contains ?? [])], mayContain: [...(a?.mayContain ?? [])], diets: [...(of?.diets ?? [])] }
}

/** The fields of a request: those that differ from what is stored. */
export function changedDeclaration(before: Declaration, after: Declaration): { allergens?: Schemas['CatalogAllergensEdit']; diets?: string[] } {
  const { diets: was, ...old } = before
  const { diets: next, ...allergens } = after
  return {
    ...(JSON.stringify(old) === JSON.stringify(allergens) ? {} : { allergens }),
    ...(was.join() === next.join() ? {} : { diets: next }),
  }
}

/** A declaration after an edit: an allergen that is contained is not a trace, and a list of allergens is a declaration. */
export function edited(d: Declaration, change: Partial<Declaration>): Declaration {
  const next = { ...d, ...change }
  if (change.declared === false) return { ...next, contains: [], mayContain: [] }
  const contains = allergens.filter((a) => next.contains.includes(a))
  const mayContain = allergens.filter((a) => next.mayContain.includes(a) && !contains.includes(a))
  return {
    declared: next.declared || contains.length + mayContain.length > 0, contains, mayContain,
    diets: diets.filter((diet) => suitsDiet(next.diets, diet)),
  }
}

const excluded: Partial<Record<Diet, readonly Allergen[]>> = {
  VEGETARIAN: ['AC', 'AF', 'UM'], VEGAN: ['AC', 'AE', 'AF', 'AM', 'UM'], KOSHER: ['AC', 'UM'],
}

/** The first diet that the contained allergens contradict. The server refuses it, too. */
export function conflictOf(d: Declaration): { diet: Diet; allergens: Allergen[] } | undefined {
  for (const diet of d.diets) {
    const found = (excluded[diet] ?? []).filter((a) => d.contains.includes(a))
    if (found.length > 0) return { diet, allergens: found }
  }
  return undefined
}

/** Why a declaration cannot be saved; empty if it can. */
export function conflictText(d: Declaration): string {
  const found = conflictOf(d)
  if (!found) return ''
  const names = found.allergens.map((a) => t(`menu.allergen_${a}`)).join(language.value === 'zh-Hant' ? '、' : ', ')
  return t('menu.diet_conflict', { diet: t(`menu.diet_${found.diet}`), names })
}
