import type { DeclaredDish } from '@shared/allergens'
import type { components, operations } from '@shared/api/schema'
import type { Choice, OptionGroup, WireChoice } from '@shared/options'

type Schemas = components['schemas']

export type Landed = Schemas['VisitLanding']
export type Branch = Landed['branch']

type ActiveMenu = operations['menu-active']['responses'][200]['content']['application/json']
type ActiveCategory = ActiveMenu['categories'][number]
export type MenuItem = Omit<ActiveCategory['items'][number], 'allergens' | 'diets' | 'groups' | 'ownAllergens'> &
  DeclaredDish & { groups?: OptionGroup[] | null }
export type Category = Omit<ActiveCategory, 'items'> & { items: MenuItem[] }
export type Menu = Omit<ActiveMenu, 'categories'> & { categories: Category[] }
export type Availability = Schemas['CatalogAvailability']

export type CreateOrder = Omit<Schemas['OrderingCreateBody'], '$schema' | 'customerToken'>
export type Placed = Schemas['OrderingSummary']
export type OrderLine = Omit<Schemas['OrderingItem'], 'options'> & { options?: Choice[] | null }
export type Order = Omit<Schemas['OrderingDetail'], 'items'> & { items: OrderLine[] }
export type ListedOrder = Omit<Schemas['OrderingListed'], 'items'> & { items: OrderLine[] }
/** A table of the restaurant. */
export interface Table {
  id: string
  label: string
}
export type TableCart = Omit<Schemas['CartSharedView'], 'lines'> & {
  lines: (Omit<Schemas['CartSharedLine'], 'options'> & { options?: Choice[] | null })[]
}
/** A line of a shared cart in a request. */
export interface PutLine {
  itemId: string
  qty: number
  notes: string
  options?: WireChoice[]
}
export type Breakdown = Schemas['OrderingBreakdown']

export type Method = 'COUNTER' | 'VNPAY' | 'LINEPAY' | 'SANDBOX'
export type CallReason = 'BILL' | 'HELP' | 'WATER'
