import { shallowRef } from 'vue'

/** Why a field's text is refused: there is none although it is required, or it does not have the accepted form. */
export type Refusal = 'missing' | 'unfit'

type Field = HTMLInputElement | HTMLTextAreaElement

/** Returns why the browser refuses a field by its attributes: required, type, pattern and minlength. */
export function refusalOf({ validity }: Pick<Field, 'validity'>): Refusal | undefined {
  if (validity.valid) return undefined
  return validity.valueMissing ? 'missing' : 'unfit'
}

/**
 * Replaces the browser's message about a field, which has the language of the browser, not that of the app. The field
 * shows the text of `refusal` and listens to its input's events: `invalid`, sent when the form is submitted, and `input`.
 * The first refused field of the form gets the focus, as with the browser's messages. The form must not have `novalidate`.
 */
export function useValidity() {
  const refusal = shallowRef<Refusal>()

  function refuse(e: Event): void {
    e.preventDefault() // the browser's message
    const field = e.target as Field
    refusal.value = refusalOf(field)
    if (firstRefused(field.form) === field) field.focus()
  }

  function check(e: Event): void {
    if (refusal.value) refusal.value = refusalOf(e.target as Field)
  }

  return { refusal, refuse, check }
}

function firstRefused(form: HTMLFormElement | null): Element | undefined {
  return [...(form?.elements ?? [])].find((e) => /^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName) && (e as Field).willValidate && !(e as Field).validity.valid)
}
