import { onScopeDispose, watch, type ObjectDirective } from 'vue'

import { plain } from './search'

/** A page whose openings are counted. */
export type Page = 'menu' | 'dish' | 'cart' | 'checkout'

/** What a guest has looked at since the last report. */
export interface Views {
  viewed: string[] // dish ids
  added: string[]
  opened: string[] // dishes whose sheets were opened, also again
  pages: Page[]
  searches: string[] // as they were typed
}

const minLook = 1000 // ms that a card is on the screen until it counts
const every = 5000 // ms from the first view to its report
const maxDishes = 100 // of a report; the server refuses more

let send: ((views: Views) => Promise<unknown>) | undefined
let shown = '' // the menu whose dishes are counted
const counted = new Set<string>() // dishes that were reported: each once per menu and page load
const none = (): Views => ({ viewed: [], added: [], opened: [], pages: [], searches: [] })
let waiting = none()
let timer: ReturnType<typeof setTimeout> | undefined

/** Counts a dish as looked at. */
export function sawDish(dishId: string): void {
  if (counted.has(dishId)) return
  counted.add(dishId)
  waiting.viewed.push(dishId)
  plan()
}

/** Counts a dish as looked at, and its sheet as opened. */
export function openedDish(dishId: string): void {
  sawDish(dishId)
  if (!waiting.opened.includes(dishId)) waiting.opened.push(dishId)
  openedPage('dish')
}

/** Counts a dish as added to the cart. */
export function addedDish(dishId: string | undefined): void {
  if (!dishId || waiting.added.includes(dishId)) return
  waiting.added.push(dishId)
  plan()
}

/** Counts a page as opened. */
export function openedPage(page: Page): void {
  if (waiting.pages.length >= 20) return // of a report
  waiting.pages.push(page)
  plan()
}

/** Counts a search. A text that continues the last one replaces it: a guest who types "bún chả" did not search for "bún". */
export function searchedFor(text: string): void {
  const { searches } = waiting
  const last = searches.at(-1)
  if (last !== undefined && plain(text).startsWith(plain(last))) searches[searches.length - 1] = text
  else if (searches.length < 10) searches.push(text) // of a report
  plan()
}

function plan(): void {
  if (waiting.viewed.length + waiting.added.length + waiting.opened.length >= maxDishes) report()
  else timer ??= setTimeout(report, every)
}

/** Sends what is waiting. A report that fails is not repeated, because only statistics depend on it. */
function report(): void {
  clearTimeout(timer)
  timer = undefined
  const views = waiting
  if (!send || Object.values(views).every((list) => list.length === 0)) return
  waiting = none()
  send(views).catch(() => undefined)
}

/** Reports views of a menu while the calling component exists, and the last ones when the page is hidden. */
export function useViews(menu: () => string, sender: (views: Views) => Promise<unknown>): void {
  watch(menu, (now) => {
    if (now !== shown) counted.clear()
    shown = now
  }, { immediate: true })
  send = sender
  const hidden = (): void => {
    if (document.hidden) report()
  }
  document.addEventListener('visibilitychange', hidden)
  onScopeDispose(() => {
    document.removeEventListener('visibilitychange', hidden)
    report()
  })
}

const looks = new WeakMap<Element, { dishId: string; timer?: ReturnType<typeof setTimeout> }>()
let observer: IntersectionObserver | undefined

function observe(element: Element): void {
  if (!('IntersectionObserver' in window)) return
  observer ??= new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const look = looks.get(target)
      if (!look) continue
      clearTimeout(look.timer)
      if (isIntersecting) look.timer = setTimeout(() => { sawDish(look.dishId) }, minLook)
    }
  }, { threshold: 0.6 })
  observer.observe(element)
}

/** Counts the dish with this id as looked at, once most of the element has been on the screen for a second. */
export const vLooked: ObjectDirective<Element, string> = {
  mounted(element, { value }) {
    looks.set(element, { dishId: value })
    observe(element)
  },
  unmounted(element) {
    clearTimeout(looks.get(element)?.timer)
    observer?.unobserve(element)
  },
}
