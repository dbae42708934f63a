import { shallowRef } from 'vue'

import { faultText } from './faults'

export interface Notice {
  text: string
  bad: boolean
}

/** The notice on the screen. */
export const notice = shallowRef<Notice>()

/** Shows a success message. */
export function notify(text: string): void {
  notice.value = { text, bad: false }
}

/** Shows why something failed. */
export function complain(e: unknown): void {
  notice.value = { text: faultText(e), bad: true }
}

export interface Question {
  title: string
  text?: string
  action: string // what the button says
  danger?: boolean
  reason?: string // the label of a reason that must be given
}

interface Pending extends Question {
  answer: (reason: string | undefined) => void
}

/** The question on the screen. */
export const question = shallowRef<Pending>()

/** Asks before something that cannot be undone. Returns the reason, or `yes` where none is needed; undefined is no. */
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
