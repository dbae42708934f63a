import type { components } from '@shared/api/schema'
import { isFault } from '@shared/api/fault'
import { isValidPin } from '../shell/pin'

export type NewAccount = components['schemas']['HireInBody']

/** The roles of people who share devices, the most frequent first. */
export const teamRoles = ['KITCHEN', 'STAFF', 'CASHIER', 'MANAGER'] as const

/** A person to add. `sent` stays until the server has reported whether it was stored. */
export interface Row {
  key: number
  name: string
  role: string // the role's name
  branch: string
  pin: string
  sent: NewAccount | undefined
  state: 'open' | 'sending' | 'unknown' | 'done'
  problem: unknown
}

let made = 0

export function newRow(role: string, branch: string): Row {
  made++
  return { key: made, name: '', role, branch, pin: proposePin(), sent: undefined, state: 'open', problem: undefined }
}

function randomDigits(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(length)), (n) => String(n % 10)).join('')
}

/**
 * Returns a random PIN of six digits that the server accepts. The server accepts four to eight digits and allows ten wrong
 * PINs per colleague. With twenty colleagues, a thief of the tablet would find a PIN of four digits with a chance of 1 in 50,
 * and one of six digits with 1 in 5,000.
 */
export function proposePin(): string {
  for (;;) {
    const pin = randomDigits(6)
    if (isValidPin(pin)) return pin
  }
}

/** A username for a name. Its random digits make it unique, so that the server refuses a repeated request. */
export function usernameFor(name: string): string {
  const plain = name.toLowerCase().replaceAll('đ', 'd').normalize('NFD').replace(/\p{M}/gu, '')
  const words = plain.replace(/[^a-z0-9]+/g, '.').replace(/^\.+|\.+$/g, '').slice(0, 20).replace(/\.+$/, '')
  return `${words || 'staff'}-${randomDigits(8)}`
}

/** Whether a row can be sent, and whether it is untouched and need not be sent. */
export const isSendable = (r: Row) => r.name.trim() !== '' && r.branch !== '' && isValidPin(r.pin)
export const isBlank = (r: Row) => r.name.trim() === '' && r.state === 'open'

/** Adds a row's person and stores the result in the row. It never throws, so that the next row is always sent. */
export async function addRow(r: Row, roleId: string, send: (body: NewAccount) => Promise<unknown>): Promise<void> {
  const repeated = r.sent !== undefined
  const body = r.sent ?? {
    firstName: r.name.trim(), username: usernameFor(r.name), roleId, branches: [r.branch], pin: r.pin,
  }
  r.sent = body
  r.state = 'sending'
  r.problem = undefined
  try {
    await send(body)
    r.state = 'done'
  } catch (e) {
    // An earlier request of this row, whose response was lost, has stored the username.
    if (repeated && isFault(e, 'username_taken')) {
      r.state = 'done'
      return
    }
    const open = isFault(e) && !e.passing
    if (open) r.sent = undefined
    r.state = open ? 'open' : 'unknown'
    r.problem = e
  }
}
