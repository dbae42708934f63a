import { fullName } from '@shared/names'
import { newTxnId } from '@shared/txn'

import type { Account, Checkout, Kind, ListedOrder } from './dto'

/** The fields of the receiver form. */
export interface Receiver {
  name: string
  phone: string
  address: string
  email: string
  note: string
}

/** The maximum length of the note for the courier. */
export const maxNoteLength = 200

/**
 * The receiver that the form starts with: from the account, or else from the last order. The note is not reused, because it
 * belongs to one order.
 */
export function receiverOf(user: Account | undefined, last: ListedOrder | undefined): Receiver {
  const address = [user?.address, user?.city, user?.province].filter(Boolean).join(', ')
  return {
    name: fullName(user) || last?.receiver.name || '',
    phone: user?.phone ?? (last?.receiver.phone || ''),
    address: (user?.address ? address : '') || last?.receiver.address || '',
    email: user?.email ?? '',
    note: '',
  }
}

/** The receiver in a request. Pickup orders have no address and no note. */
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
 * The clientTxnId of a member's next order. It survives reloads until the order exists, so that repeated requests create
 * one order. An order deletes its cart, so a cart with another id is another order, even if the answer to the one before was
 * lost.
 */
export function nextTxn(userId: string, cartId: string): string {
  try {
    const [user, made, cart] = (sessionStorage.getItem(key) ?? '').split(' ')
    if (user === userId && made && cart === cartId) return made
    const next = newTxnId()
    sessionStorage.setItem(key, `${userId} ${next} ${cartId}`)
    return next
  } catch {
    return newTxnId()
  }
}

/** Removes the id of an order that exists, unless the next order already has another. */
export function forgetTxn(clientTxnId: string): void {
  try {
    if (sessionStorage.getItem(key)?.split(' ')[1] === clientTxnId) sessionStorage.removeItem(key)
  } catch {
    // Nothing was stored.
  }
}
