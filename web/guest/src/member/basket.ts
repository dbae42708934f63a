import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { RouteLocationRaw } from 'vue-router'

import { isFault, type Fault } from '@shared/api/fault'
import { language } from '@shared/i18n'
import { choiceProblem, choicesKey, renamed, type Choice } from '@shared/options'

import type { MenuItem } from '../api/dto'
import { isBlocked, maxInCart, maxPerLine, type ShownLine } from '../cart/line'
import { isUnavailable } from '../menu/search'
import { onReconnect } from '../shell/connection'
import { useAccount } from './account'
import * as api from './api'
import { useBranches } from './branches'
import type { Basket, BasketItem, Kind } from './dto'

const kinds: Kind[] = ['DELIVERY', 'PICKUP']

/** The member's cart. The server stores it for all devices. */
export const useBasket = defineStore('basket', () => {
  const account = useAccount()
  const shop = useBranches()
  const basket = shallowRef<Basket>()
  const fault = shallowRef<Fault>()
  const refusal = shallowRef<Fault>() // of the last change of a line
  const vanished = ref<string[]>([]) // names of dishes of an earlier order that could not be added again
  const kind = ref<Kind>() // that the member has chosen; menus may differ by kind
  const loadedFor = ref<Kind>()
  const other = ref<Kind>() // another kind for which the whole cart can be ordered, if it cannot be for the chosen one
  const waiting = ref(0)
  let generation = 0
  /** The last addition of a line that should replace another one, until that one is removed. */
  let half: { old: string; id: string; before: number } | undefined
  let turn: Promise<unknown> = Promise.resolve()

  const items = computed(() => basket.value?.items ?? [])
  /** The dish of a line on the loaded menu, which may be another branch's. */
  const dishOf = (i: BasketItem, of?: Basket) => (shop.branch.value?.id === of?.branchId ? shop.dishes.value.get(i.dishId) : undefined)
  const linesOf = (of?: Basket) => (of?.items ?? []).map((i) => shown(i, dishOf(i, of)))
  const lines = computed(() => linesOf(basket.value))
  const orderable = computed(() => lines.value.filter((l) => !l.gone))
  /** The number of items that can be ordered; sold-out ones are not counted. */
  const count = computed(() => orderable.value.reduce((sum, l) => sum + l.qty, 0))
  const total = computed(() => orderable.value.reduce((sum, l) => sum + l.price * l.qty, 0))
  const currency = computed(() => basket.value?.currency ?? 'VND')
  /** The first line that cannot be ordered as it is. */
  const obstacle = computed(() => lines.value.find(isBlocked))
  const repriced = computed(() => items.value.some((i) => i.priceChanged && i.isAvailable))
  /** Whether the cart is that of the chosen kind. */
  const current = computed(() => loadedFor.value === kind.value)
  const busy = computed(() => waiting.value > 0)
  /** The branch of the cart's dishes; undefined while the cart is empty. */
  const branchId = computed(() => (items.value.length > 0 ? basket.value?.branchId : undefined))

  async function load(): Promise<void> {
    const mine = ++generation
    const chosen = kind.value
    try {
      const got = await api.basket(chosen)
      const better = await instead(got, chosen)
      if (mine !== generation) return
      basket.value = chosen ? got : better?.cart ?? got
      loadedFor.value = chosen
      other.value = better?.kind
      fault.value = undefined
    } catch (e) {
      if (!isFault(e)) throw e
      if (mine === generation) fault.value = e
    }
  }

  const whole = (of: Basket) => !linesOf(of).some(isBlocked)

  /**
   * Returns another kind for which the whole cart can be ordered, with the cart, if it cannot be for the chosen kind. Before a
   * choice a cart may have dishes of several menus, so it is compared with the kind that the checkout begins with.
   */
  async function instead(cart: Basket, chosen?: Kind): Promise<{ kind: Kind; cart: Basket } | undefined> {
    try {
      if (whole(cart) && (chosen || !cart.items?.length || whole(await api.basket('DELIVERY')))) return undefined
      const all = await Promise.all(kinds.filter((k) => k !== chosen).map(async (k) => ({ kind: k, cart: await api.basket(k) })))
      return all.find((other) => whole(other.cart))
    } catch (e) {
      if (!isFault(e)) throw e
      return undefined // the cart is shown without the hint
    }
  }

  /** Shows the cart for a kind of order; undefined: before the member has chosen one. */
  async function choose(next?: Kind): Promise<void> {
    kind.value = next
    other.value = undefined
    if (account.kept) await load()
  }

  /** Queues changes, one request at a time, and shows the result of the last. */
  async function change(what: () => Promise<unknown>): Promise<void> {
    const mine = turn.then(what)
    turn = mine.catch(() => undefined)
    waiting.value++
    try {
      await mine
    } finally {
      if (--waiting.value === 0) await load()
    }
  }

  const add = (dishId: string, quantity: number, branch: string, options: readonly Choice[] = []) =>
    change(() => {
      half = undefined // the member goes on with the cart as it is
      return api.addDish(dishId, quantity, branch, options)
    })
  const empty = () => change(() => api.emptyBasket())

  /** Changes a line on the screen at once, then on the server. A refusal restores the server's state. */
  async function set(line: string, quantity: number): Promise<void> {
    const wanted = Math.min(quantity, maxPerLine)
    const after = items.value.map((i) => (i.id === line ? { ...i, quantity: wanted } : i)).filter((i) => i.quantity > 0)
    if (basket.value) basket.value = { ...basket.value, items: after }
    generation++ // answers to earlier requests are outdated
    refusal.value = undefined
    try {
      await change(() => {
        half = undefined // the member goes on with the cart as it is
        return wanted > 0 ? api.setQuantity(line, wanted) : api.removeDish(line)
      })
    } catch (e) {
      if (!isFault(e)) throw e
      refusal.value = e
    }
  }

  /**
   * Changes the quantity of a dish from its menu card, in its line with these options or a new one. A refusal is shown as in
   * set.
   */
  async function put(dishId: string, quantity: number, branch: string, options: readonly Choice[] = []): Promise<void> {
    const those = items.value.filter((i) => i.dishId === dishId)
    const more = quantity - those.reduce((sum, i) => sum + i.quantity, 0)
    const line = more > 0 ? those.find((i) => choicesKey(i.options) === choicesKey(options)) : those.at(-1)
    if (line) {
      await set(line.id, line.quantity + more)
      return
    }
    refusal.value = undefined
    try {
      await add(dishId, 1, branch, options) // each tap adds one piece; two quick taps send two requests, one after the other
    } catch (e) {
      if (!isFault(e)) throw e
      refusal.value = e
    }
  }

  /**
   * Changes the options and the quantity of a line. The line with the new options replaces it: it is added, then the old one is
   * removed. If that fails the addition is undone, at the latest before the next attempt, so that the dish is not there twice.
   */
  function replace(line: BasketItem, quantity: number, branch: string, options: readonly Choice[]): Promise<void> {
    return change(async () => {
      if (half?.old === line.id) await takeBack(half)
      if (choicesKey(line.options) === choicesKey(options)) return api.setQuantity(line.id, quantity)
      const added = await api.addDish(line.dishId, quantity, branch, options)
      half = { old: line.id, id: added.id, before: added.quantity - quantity }
      try {
        await api.removeDish(line.id)
      } catch (e) {
        if (!isFault(e)) throw e
        const { items } = await api.basket()
        if (items?.some((i) => i.id === line.id)) { // else the line was removed, and only the answer was lost
          await takeBack(half)
          throw e
        }
      }
      half = undefined
    })
  }

  /** Undoes an addition, which may have raised the quantity of a line. */
  async function takeBack({ id, before }: NonNullable<typeof half>): Promise<void> {
    try {
      await (before > 0 ? api.setQuantity(id, before) : api.removeDish(id))
    } catch (e) {
      if (!isFault(e) || e.passing) throw e // a refusal: the line is gone
    }
    half = undefined
  }

  onReconnect(() => fault.value && load())

  // Another member has another cart, and dishes have other names in other languages.
  watch(
    [() => account.user?.id, language],
    ([id], [before]) => {
      if (id !== before) {
        basket.value = undefined
        other.value = undefined
        vanished.value = []
      }
      if (id) void load()
    },
    { immediate: true },
  )

  return {
    basket, fault, refusal, vanished, busy, items, lines, count, total, currency, obstacle, repriced, branchId, other, current, choose, load, add, set,
    put, replace, empty,
  }
})

/** Converts a line, with its dish on the current menu if that is known, for components that also show table carts. */
export function shown(item: BasketItem, dish?: MenuItem): ShownLine {
  // The loaded menu may have the item for another kind of order, with other options.
  const problem = dish?.itemId === item.itemId ? choiceProblem(dish, item.options) : undefined
  // The server also calls a dish unavailable if only its options are no longer offered.
  const onMenu = item.isAvailable || (problem !== undefined && !isUnavailable(dish as MenuItem))
  const left = onMenu ? maxInCart(item.isAvailable ? item.remaining : dish?.remaining ?? null) : 0
  return {
    key: item.id, dishId: item.dishId, imageUrl: item.imageUrl, itemId: item.itemId ?? '', qty: item.quantity, notes: '', name: item.name,
    price: item.price || item.previousPrice, onMenu, available: left, gone: left === 0,
    options: dish ? renamed(dish.groups, item.options) : item.options ?? [], optional: Boolean(dish?.groups?.length),
    problem,
  }
}

/** The page on which the options of a line are changed. */
export function editLine(line: ShownLine): RouteLocationRaw {
  return { name: 'shop-dish', params: { dishId: line.dishId ?? '' }, query: { line: line.key } }
}
