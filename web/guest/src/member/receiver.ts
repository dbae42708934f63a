import { newTxnId } from '@shared/txn'

import type { Account, Checkout, Kind, ListedOrder } from './dto'

/** Who gets an order, as a form has it. */
export interface Receiver {
  name: string
  phone: string
  address: string
  email: string
  note: string
}

/** As many characters as a note for the courier may have. */
export const longestNote = 200

/**
 * What a member need not type again: of the account, and where that says nothing, of the last order. A note is about one
 * order alone, as "I wait downstairs".
 */
export function receiverOf(user: Account | undefined, last: ListedOrder | undefined): Receiver {
  const name = [user?.firstName, user?.surname].filter(Boolean).join(' ')
  const address = [user?.address, user?.city, user?.province].filter(Boolean).join(', ')
  return {
    name: name || last?.receiver.name || '',
    phone: user?.phone ?? (last?.receiver.phone || ''),
    address: (user?.address ? address : '') || last?.receiver.address || '',
    email: user?.email ?? '',
    note: '',
  }
}

/** Who gets an order, as it is sent. An order that is fetched goes to no address, and no courier reads its note. */
export function receiverFields(to: Receiver, kind: Kind): Omit<Checkout, 'paymentMethod' | 'clientTxnId'> {
  const [address, email, note] = [to.address.trim(), to.email.trim(), to.note.trim()]
  return {
    kind, receiverName: to.name.trim(), receiverPhone: to.phone.trim(),
    ...(kind === 'DELIVERY' ? { receiverAddress: address } : {}),
    ...(email ? { receiverEmail: email } : {}),
    ...(kind === 'DELIVERY' && note ? { receiverNote: note } : {}),
  }
}

const key = 'comanda.checkout'

/**
 * The id of a member's next order. It stays the same over reloads until its order is known to be there, so that what was
 * sent twice is ordered once.
 */
export function nextTxn(userId: string): string {
  try {
    const kept = (sessionStorage.getItem(key) ?? '').split(' ')
    if (kept[0] === userId && kept[1]) return kept[1]
    const made = newTxnId()
    sessionStorage.setItem(key, `${userId} ${made}`)
    return made
  } catch {
    return newTxnId()
  }
}

/** Begins anew, after an order. */
export function forgetTxn(): void {
  try {
    sessionStorage.removeItem(key)
  } catch {
    // Nothing was kept.
  }
}
