import type { components, operations } from '@shared/api/schema'

type Schemas = components['schemas']

export type Landed = Schemas['VisitLanding']
export type Branch = Landed['branch']

export type Menu = operations['menu-active']['responses'][200]['content']['application/json']
export type Category = Menu['categories'][number]
export type MenuItem = Category['items'][number]
export type Availability = Schemas['CatalogAvailability']

export type CreateOrder = Omit<Schemas['OrderingCreateBody'], '$schema' | 'customerToken'>
export type Placed = Schemas['OrderingSummary']
export type Order = Schemas['OrderingDetail']
export type ListedOrder = Schemas['OrderingListed']
export type TableCart = Schemas['CartSharedView']
export type OrderLine = Schemas['OrderingItem']

export type Method = 'COUNTER' | 'VNPAY' | 'LINEPAY' | 'SANDBOX'
export type CallReason = 'BILL' | 'HELP' | 'WATER'
