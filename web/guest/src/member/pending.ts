import { ref, shallowRef } from 'vue'

import type { Fault } from '@shared/api/fault'

import type { Credentials } from './dto'

// The tab stores the e-mail address until the code is entered. The page keeps the password in memory only, to log in once
// the code is accepted.
const key = 'comanda.member.address'

/** The address to which a code was sent. */
export const address = ref(recall())

/** Why no code was sent to it now; an earlier one may have arrived. */
export const unsent = shallowRef<Fault>()

let credentials: Credentials | undefined

export function expectCode(email: string, given?: Credentials, failed?: Fault): void {
  address.value = email
  unsent.value = failed
  credentials = given
  try {
    sessionStorage.setItem(key, email)
  } catch {
    // Without storage, a reload asks for the address again.
  }
}

/** Returns the credentials of an unfinished login and forgets them. */
export function takeCredentials(): Credentials | undefined {
  const given = credentials
  credentials = undefined
  address.value = ''
  try {
    sessionStorage.removeItem(key)
  } catch {
    // Nothing was stored.
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
