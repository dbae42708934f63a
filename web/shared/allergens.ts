import type { Choice, OptionGroup } from './options'

/** The 14 allergens of Regulation (EU) No 1169/2011 as GS1 codes, in the order of its Annex II. */
export const allergens = ['AW', 'AC', 'AE', 'AF', 'AP', 'AY', 'AM', 'AN', 'BC', 'BM', 'AS', 'AU', 'NL', 'UM'] as const
export type Allergen = (typeof allergens)[number]

export const diets = ['VEGETARIAN', 'VEGAN', 'HALAL', 'KOSHER'] as const
export type Diet = (typeof diets)[number]

export interface Allergens {
  contains: readonly Allergen[]
  mayContain: readonly Allergen[]
}

/** What a dish or an option declares. A menu that was stored by an older app has neither field. */
export interface Declared {
  allergens?: Allergens | null | undefined // null: not declared, which is not the same as none
  diets?: readonly Diet[] | undefined
}

/** A dish of a menu. ownAllergens is what a combo contains whatever is chosen. */
export interface DeclaredDish extends Declared {
  ownAllergens?: Allergens | null | undefined
  groups?: readonly OptionGroup[] | null | undefined
}

/** A dish together with options. known is false if a part is not declared; the lists have what the others declare. */
export interface Sum extends Allergens {
  known: boolean
  diets: readonly Diet[]
}

/** What a person cannot or does not want to eat. */
export interface Wishes {
  without: readonly Allergen[]
  diets: readonly Diet[]
}

/** What a person should know about a dish; empty if it suits all wishes. */
export interface Marks {
  contains: readonly Allergen[]
  mayContain: readonly Allergen[]
  notDiets: readonly Diet[] // not promised
  ask: boolean // a part is not declared
}

/** Whether a diet is promised. What is vegan is vegetarian too. */
export function suitsDiet(list: readonly Diet[] | undefined, diet: Diet): boolean {
  return Boolean(list?.includes(diet)) || (diet === 'VEGETARIAN' && Boolean(list?.includes('VEGAN')))
}

const ordered = (codes: readonly Allergen[]) => allergens.filter((code) => codes.includes(code))

/** The sum of declarations. */
export function sumOf(parts: readonly Declared[]): Sum {
  const contains = ordered(parts.flatMap((p) => p.allergens?.contains ?? []))
  return {
    contains,
    mayContain: ordered(parts.flatMap((p) => p.allergens?.mayContain ?? [])).filter((code) => !contains.includes(code)),
    known: parts.every((p) => Boolean(p.allergens)),
    diets: diets.filter((diet) => parts.every((p) => suitsDiet(p.diets, diet))),
  }
}

/** A dish with its chosen options. Of a combo only the chosen parts count, and what it contains in any case. */
export function together(dish: DeclaredDish, choices: readonly Choice[] | null | undefined): Sum {
  const combo = (dish.groups ?? []).some((g) => g.kind === 'COMBO')
  const own: Declared[] = combo ? (dish.ownAllergens ? [{ allergens: dish.ownAllergens, diets: dish.diets }] : []) : [dish]
  return sumOf([...own, ...chosenOf(dish.groups, choices)])
}

function chosenOf(groups: DeclaredDish['groups'], choices: readonly Choice[] | null | undefined): Declared[] {
  return (choices ?? []).flatMap((c) => {
    const option = (groups ?? []).flatMap((g) => g.options).find((o) => o.id === c.optionId)
    return option ? [option, ...chosenOf(option.groups, c.options)] : []
  })
}

/** Whether a person has any wish. */
export function wished(w: Wishes): boolean {
  return w.without.length + w.diets.length > 0
}

/** Compares a dish with the wishes of a person. */
export function marksOf(sum: Sum, wishes: Wishes): Marks {
  const contains = sum.contains.filter((code) => wishes.without.includes(code))
  return {
    contains,
    mayContain: sum.mayContain.filter((code) => wishes.without.includes(code)),
    notDiets: wishes.diets.filter((diet) => !suitsDiet(sum.diets, diet)),
    // A dish that contains a named allergen needs no question, unless other allergens are open.
    ask: !sum.known && wishes.without.length > contains.length,
  }
}

/** Whether a dish suits all wishes. */
export function suits(m: Marks): boolean {
  return !m.ask && m.contains.length + m.mayContain.length + m.notDiets.length === 0
}
