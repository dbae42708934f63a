import { ref } from 'vue'

import type { Credentials } from './dto'

// Between a form and the letter with its code a tab remembers the address. The password is remembered by nothing but
// this page, so that whoever has just typed it is logged in by the code.
const key = 'comanda.member.address'

/** The address to which a code was sent. */
export const address = ref(recall())

let credentials: Credentials | undefined

export function expectCode(email: string, given?: Credentials): void {
  address.value = email
  credentials = given
  try {
    sessionStorage.setItem(key, email)
  } catch {
    // A reload asks for it again then.
  }
}

/** Gives what somebody wanted to log in with, once. */
export function takeCredentials(): Credentials | undefined {
  const given = credentials
  credentials = undefined
  address.value = ''
  try {
    sessionStorage.removeItem(key)
  } catch {
    // Nothing was kept.
  }
  return given
}

function recall(): string {
  try {
    return sessionStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}
