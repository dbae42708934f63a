import { filled, type Texts } from './localized'
import type { Dish } from './menuEditor'

/** The category and texts of a dish's form. */
export interface DishTexts { categoryId: string; names: Texts; descriptions: Texts }

const same = (a: Texts, b: Texts) => JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort())

/** The fields of a request: those that differ from the dish as it was opened. A colleague may have changed the others since. */
export function changedTexts(form: DishTexts, was: Pick<Dish, 'categoryId' | 'names' | 'descriptions'>): Partial<DishTexts> {
  const [names, descriptions] = [filled(form.names), filled(form.descriptions)]
  return {
    ...(form.categoryId === was.categoryId ? {} : { categoryId: form.categoryId }),
    ...(same(names, filled(was.names)) ? {} : { names }),
    ...(same(descriptions, filled(was.descriptions)) ? {} : { descriptions }),
  }
}
