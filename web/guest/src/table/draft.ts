import type { Choice } from '@shared/options'

import type { Branch, Table } from '../api/dto'
import { maxPerLine, type CartLine } from '../cart/line'

/** The part of a visit that a phone stores. Orders are loaded from the server. */
export interface Draft {
  schemaVersion: 1
  visitToken: string
  visitId: string
  branch: Branch
  table: Table
  menuVersion: string
  cartDraft: CartLine[] // or the unsent changes of a shared cart, in which quantity 0 removes a line
  own?: CartLine[] | undefined // with a shared cart only: all lines of this phone, for its next table
  clientTxnId: string
}

const pointer = 'comanda.visit'
const prefix = 'comanda.visit.'

/** The storage key of a visit. */
export function draftKey(visitId: string): string {
  return prefix + visitId
}

/** The storage key of the id of the phone's visit. */
export const currentKey = pointer

/** The phone's visit; undefined if nothing usable is stored. */
export function readCurrent(): Draft | undefined {
  const id = read(pointer)
  return id ? readDraft(id) : undefined
}

export function readDraft(visitId: string): Draft | undefined {
  return parseDraft(read(draftKey(visitId)))
}

/** Stores a visit and makes it the phone's own. */
export function writeDraft(draft: Draft): void {
  try {
    localStorage.setItem(draftKey(draft.visitId), JSON.stringify(draft))
    localStorage.setItem(pointer, draft.visitId)
  } catch {
    // The storage is full or forbidden. The cart then survives until the next reload.
  }
}

/** Removes all stored visits, or all except one. */
export function forgetDrafts(keep?: string): void {
  try {
    for (const key of Object.keys(localStorage)) {
      const old = key.startsWith(prefix) && key !== draftKey(keep ?? '')
      if (old || (key === pointer && !keep)) localStorage.removeItem(key)
    }
  } catch {
    // Nothing was stored.
  }
}

/** Reads a stored value, which an older release or another program may have written. */
export function parseDraft(text: string | null): Draft | undefined {
  let d: Record<string, unknown>
  try {
    d = JSON.parse(text ?? '') as Record<string, unknown>
  } catch {
    return undefined
  }
  const branch = d?.branch as Branch | undefined
  const table = d?.table as Draft['table'] | undefined
  const sound =
    d?.schemaVersion === 1 && isText(d.visitToken) && isText(d.visitId) && isText(d.clientTxnId) &&
    isText(branch?.id) && isText(branch.name) && isText(branch.currency) && isText(branch.timezone) &&
    Array.isArray(branch.locales) && isText(table?.id) && isText(table.label) && Array.isArray(d.cartDraft)
  if (!sound) return undefined
  const menuVersion = typeof d.menuVersion === 'string' ? d.menuVersion : ''
  const own = Array.isArray(d.own) ? { own: d.own.filter(isLine) } : {}
  return { ...(d as unknown as Draft), menuVersion, cartDraft: (d.cartDraft as unknown[]).filter(isChange), ...own }
}

/** Whether a value is a line with a quantity, or the removal of a line of a shared cart. */
function isChange(value: unknown): value is CartLine {
  const l = value as CartLine | null
  return (
    isText(l?.itemId) && typeof l.notes === 'string' && typeof l.name === 'string' && Number.isSafeInteger(l.price) &&
    Number.isSafeInteger(l.qty) && l.qty >= (isText(l.id) ? 0 : 1) && l.qty <= maxPerLine && areChoices(l.options)
  )
}

function isLine(value: unknown): value is CartLine {
  return isChange(value) && value.qty > 0
}

function areChoices(value: unknown): value is Choice[] | null | undefined {
  if (value === undefined || value === null) return true
  return Array.isArray(value) && value.every((one: Choice | null) =>
    isText(one?.optionId) && typeof one.name === 'string' && Number.isSafeInteger(one.price) && Number.isSafeInteger(one.qty) &&
    one.qty > 0 && areChoices(one.options))
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}
