import { computed, ref, shallowRef } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'
import { language } from '@shared/i18n'
import type { OptionGroup } from '@shared/options'
import { follow } from '@shared/stream'
import { nextTask } from '@shared/task'
import { serverNow } from '@shared/time'

import type { Availability, Menu, MenuItem } from '../api/dto'
import { activeMenu, guestHeaders } from '../api/public'
import { offline } from '../shell/connection'
import { loadPopular } from './popular'
import { storeMenu, storedMenu } from './storedMenu'

type Left = NonNullable<Availability['items']>[number]

// All screens share one menu in memory, so that it stays readable while the server is unreachable.
const menu = shallowRef<Menu>()
const fault = shallowRef<Fault>()
const ended = shallowRef<Fault>() // why the server has ended the availability stream
const loading = ref(false)
const asOf = ref('') // load time of a menu that was stored during an earlier visit
const items = computed(() => new Map(menu.value?.categories.flatMap((c) => c.items).map((i) => [i.itemId, i])))

// The version of the shared cart; null: each phone has its own cart; undefined: not known yet.
const cartVersion = shallowRef<number | null>()

/** The pauses before the menu is loaded again, in ms, if an answer differs from the last event of the stream. */
const pauses = [1_000, 3_000]

let generation = 0
let last: Availability | undefined // the last event of the stream while it is connected
let again: ReturnType<typeof setTimeout> | undefined
let streaming = false
let menuless = false // the stream was refused because the branch has no menu
let streamed = new Map<string, Left>() // last state sent by the stream; while it is connected, at least as new as any menu
let where = { branchId: '', tableId: '' }
let stop: (() => void) | undefined

/** Fetches the menu in the current language. A late response does not replace a newer one. */
function load(branchId = where.branchId, tableId = where.tableId): Promise<void> {
  if (branchId !== where.branchId) menu.value = last = undefined
  where = { branchId, tableId }
  return request(0)
}

/** @param repeats how often the menu was fetched again because an answer differed from the last event */
async function request(repeats: number): Promise<void> {
  const { branchId, tableId } = where
  const mine = ++generation
  clearTimeout(again)
  loading.value = true
  void loadPopular(branchId)
  try {
    const got = await activeMenu(branchId, tableId)
    if (mine !== generation) return
    menu.value = streaming ? withLeft(got) : got
    // The outdated answer of a lagging process would stay, because the event of the change has already been sent.
    if (last && !agrees(last, got)) repeat(repeats)
    asOf.value = ''
    const [l, at] = [language.value, new Date(serverNow()).toISOString()]
    void nextTask().then(() => { storeMenu(branchId, l, got, at) }) // after the menu is drawn
    fault.value = undefined
    offline.value = false
    if (menuless) watch()
  } catch (e) {
    if (mine !== generation || !isFault(e)) return
    fault.value = e
    offline.value = e.passing
    if (e.passing && !menu.value) restore(branchId)
  } finally {
    if (mine === generation) loading.value = false
  }
}

function repeat(repeats: number): void {
  const pause = pauses[repeats]
  if (pause !== undefined) again = setTimeout(() => void request(repeats + 1), pause)
}

/** Shows the stored menu until the server responds. */
function restore(branchId: string): void {
  const kept = storedMenu(branchId)
  if (!kept) return
  menu.value = kept.menu
  asOf.value = kept.at
}

/** Follows the remaining units until the branch changes or the visit ends. */
function watch(): void {
  stop?.()
  streamed.clear()
  cartVersion.value = undefined
  streaming = menuless = false
  last = undefined
  ended.value = undefined
  stop = follow({
    url: `/cis/branch/${where.branchId}/availability/events`,
    headers: guestHeaders,
    onEvent: (event) => {
      if (event.name === 'availability') apply(JSON.parse(event.data) as Availability)
    },
    onLive: (live) => {
      streaming = live
      offline.value = !live
      if (!live) last = undefined
      if (live && fault.value) void load()
    },
    onRefused: (refused) => {
      menuless = isFault(refused, 'menu_not_found')
      if (!menuless) ended.value = refused
    },
  })
}

function apply(a: Availability): void {
  cartVersion.value = a.cartVersion
  last = a
  const news = new Map((a.items ?? []).map((i) => [i.itemId, i]))
  streamed = a.complete ? news : new Map([...streamed, ...news])
  if (!menu.value) return
  if (agrees(a, menu.value)) menu.value = withLeft(menu.value)
  else void load()
}

/** Whether a menu has the version and the state that an event of the stream tells. */
function agrees(a: Availability, m: Menu): boolean {
  return a.menuVersionId === m.menuVersionId && a.isPaused === Boolean(m.paused) && a.isClosed === Boolean(m.closed)
}

function withLeft(m: Menu): Menu {
  const next = (i: MenuItem): MenuItem => {
    const left = streamed.get(i.itemId)
    return left ? { ...i, ...left, ...(i.groups ? { groups: withoutOptions(i.groups, left.soldOutOptions ?? []) } : {}) } : i
  }
  return { ...m, categories: m.categories.map((c) => ({ ...c, items: c.items.map(next) })) }
}

/** The groups with the options that cannot be ordered now. */
function withoutOptions(groups: OptionGroup[], soldOut: readonly string[]): OptionGroup[] {
  return groups.map((g) => ({
    ...g,
    options: g.options.map((o) => ({
      ...o, isAvailable: !soldOut.includes(o.id), ...(o.groups ? { groups: withoutOptions(o.groups, soldOut) } : {}),
    })),
  }))
}

/** Fetches the menu in another language of the branch. */
function fetchIn(locale: string): Promise<Menu> {
  return activeMenu(where.branchId, where.tableId, locale)
}

function item(id: string): MenuItem | undefined {
  return items.value.get(id)
}

/** The menu of the phone's branch. */
export function useMenu() {
  return { menu, asOf, fault, ended, cartVersion, loading, load, watch, item, fetchIn }
}
