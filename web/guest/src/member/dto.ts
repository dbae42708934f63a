import type { components } from '@shared/api/schema'

type Schemas = components['schemas']

export type Account = Schemas['Account']
export type Grant = Schemas['AccountGrant']
export type Changes = Omit<Schemas['AccountChanges'], '$schema'>
export type Registration = Omit<Schemas['RegisterInBody'], '$schema'>
export type Credentials = Omit<Schemas['LoginInBody'], '$schema'>
export type Session = Schemas['AccountSession']
export type Purpose = Schemas['CodeInBody']['purpose']

export type Branch = Schemas['CatalogPublicBranch']
export type Basket = Schemas['CartView']
export type BasketItem = Schemas['CartItem']

export type Checkout = Omit<Schemas['OrderingCheckoutBody'], '$schema'>
export type CheckedOut = Schemas['OrderingCheckedOut']
export type Kind = 'DELIVERY' | 'PICKUP'

export type MemberOrder = Schemas['OrderingMemberDetail']
export type ListedOrder = Schemas['OrderingMemberOrder']
