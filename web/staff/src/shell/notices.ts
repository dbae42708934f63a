import { shallowRef } from 'vue'

import { faultText } from './faults'

export interface Notice {
  text: string
  bad: boolean
}

/** The notice that is shown. */
export const notice = shallowRef<Notice>()

/** Shows a success message. */
export function notify(text: string): void {
  notice.value = { text, bad: false }
}

/** Shows the reason of a failure. */
export function complain(e: unknown): void {
  notice.value = { text: faultText(e), bad: true }
}

export interface Question {
  title: string
  text?: string
  action: string // the button's text
  dismiss?: string // the text of the button that closes the question, if "Cancel" would be ambiguous
  danger?: boolean
  reason?: string // the label of the field for a reason, which is then required
}

interface Pending extends Question {
  answer: (reason: string | undefined) => void
}

/** The question that is shown. */
export const question = shallowRef<Pending>()

/** Asks before an action that cannot be undone. Returns the reason, or `yes` if none is required; undefined means no. */
export function confirm(q: Question): Promise<string | undefined> {
  question.value?.answer(undefined)
  return new Promise((resolve) => {
    question.value = {
      ...q,
      answer(reason) {
        question.value = undefined
        resolve(reason)
      },
    }
  })
}
