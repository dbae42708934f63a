import { newTxnId } from '@shared/txn'

import type { Account, ListedOrder } from './dto'

/** Who gets an order, as a form has it. */
export interface Receiver {
  name: string
  phone: string
  address: string
  email: string
}

/** What a member need not type again: of the account, and where that says nothing, of the last order. */
export function receiverOf(user: Account | undefined, last: ListedOrder | undefined): Receiver {
  const name = [user?.firstName, user?.surname].filter(Boolean).join(' ')
  const address = [user?.address, user?.city, user?.province].filter(Boolean).join(', ')
  return {
    name: name || last?.receiver.name || '',
    phone: user?.phone ?? (last?.receiver.phone || ''),
    address: (user?.address ? address : '') || last?.receiver.address || '',
    email: user?.email ?? '',
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
