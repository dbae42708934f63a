import type { components } from '@shared/api/schema'
import type { Choice } from '@shared/options'

import type { OrderLine } from '../api/dto'

type Schemas = components['schemas']

export type Account = Schemas['Account']
export type Grant = Schemas['AccountGrant']
export type Changes = Omit<Schemas['AccountChanges'], '$schema'>
export type Registration = Omit<Schemas['RegisterInBody'], '$schema'>
export type Credentials = Omit<Schemas['LoginInBody'], '$schema'>
export type Session = Schemas['AccountSession']
export interface GoogleCode { code: string; state: string }
export type MailChoices = Omit<Schemas['AccountMailChoices'], '$schema'>
export type Purpose = Schemas['CodeInBody']['purpose']

export type Branch = Schemas['CatalogPublicBranch']
export type Basket = Omit<Schemas['CartView'], 'items'> & { items: BasketItem[] }
export type BasketItem = Omit<Schemas['CartItem'], 'options'> & { options?: Choice[] | null }

export type Checkout = Omit<Schemas['OrderingCheckoutBody'], '$schema'>
export type CheckedOut = Schemas['OrderingCheckedOut']
export type Kind = 'DELIVERY' | 'PICKUP'

export type MemberOrder = Omit<Schemas['OrderingMemberDetail'], 'items'> & { items: OrderLine[] }
export type ListedOrder = Omit<Schemas['OrderingMemberOrder'], 'items'> & { items: OrderLine[] }
