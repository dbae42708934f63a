import type { components } from '@shared/api/schema'

import { count } from '../shell/i18n'

type Schemas = components['schemas']

export type StockItem = Schemas['StockItem']
export type Adjusted = Schemas['StockAdjustment']
export type Kind = Adjusted['kind']
export type Reservation = Schemas['StockEntry']
export type RecipeLine = Schemas['StockAmount']

/** What a recipe belongs to: a dish of the menu, or an option, whose recipe is that of the chosen branch. */
export type RecipeOwner = { names: Record<string, string> } & ({ itemId: string } | { optionId: string; isSize: boolean })

export const kinds: Kind[] = ['RECEIVE', 'COUNT', 'WASTE']
export const statuses: Reservation['status'][] = ['RESERVED', 'CONFIRMED', 'CANCELLED', 'EXPIRED', 'REFUSED', 'RETURNED']

/** The API's limit of a quantity. */
export const most = 1_000_000_000

/** The available quantity after an adjustment; undefined for an invalid one. */
export function after(available: number, kind: Kind, quantity: number | null | undefined): number | undefined {
  if (quantity === null || quantity === undefined || (kind !== 'COUNT' && quantity === 0)) return undefined
  const left = { RECEIVE: available + quantity, COUNT: quantity, WASTE: available - quantity }[kind]
  return left >= 0 && left <= most ? left : undefined
}

/** The stock level: out of stock, low, enough. */
export function standing(i: StockItem): 'out' | 'low' | 'enough' {
  if (i.available <= 0) return 'out'
  return i.isLow ? 'low' : 'enough'
}

/** The format of an item's id in other systems: 1 to 64 letters, digits, dots, hyphens and underscores. */
export function validSKU(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(id)
}

/** A quantity of an item with its unit in the current language; pieces have no unit. */
export function quantity(n: number, unit = ''): string {
  return unit ? `${count(n)} ${unit}` : count(n)
}
