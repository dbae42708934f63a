import { language, type Language } from './i18n/catalogue'

interface Named {
  firstName?: string | null | undefined
  surname?: string | null | undefined
}

const familyFirst: readonly Language[] = ['vi', 'zh-Hant']

/** The parts of a person's name in the order of the page's language, in which forms ask for them and texts show them. */
export function nameOrder(): readonly (keyof Named)[] {
  return familyFirst.includes(language.value) ? ['surname', 'firstName'] : ['firstName', 'surname']
}

/** A person's name as the page's language writes it: Lan Nguyen, Nguyễn Lan, 陳美玲. It is empty if both parts are. */
export function fullName(of: Named | undefined): string {
  const parts = nameOrder().map((part) => of?.[part]?.trim()).filter(Boolean)
  return parts.join(parts.every((part) => /^\p{Script=Han}+$/u.test(part ?? '')) ? '' : ' ')
}
