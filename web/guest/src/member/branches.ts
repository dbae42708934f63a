import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'
import { language } from '@shared/i18n'

import type { Menu } from '../api/dto'
import { loadPopular } from '../menu/popular'
import { offline, onReconnect } from '../shell/connection'
import { menuOf, listBranches } from './api'
import type { Branch } from './dto'

const key = 'comanda.branch' // in session storage

// The branches, the selected one and its menu, shared by all pages.
const branches = shallowRef<Branch[]>()
const chosen = ref(recall())
const menu = shallowRef<Menu>()
const fault = shallowRef<Fault>()
const branch = computed(() => branches.value?.find((b) => b.id === chosen.value) ?? branches.value?.[0])
const dishes = computed(() => new Map(menu.value?.categories.flatMap((c) => c.items).map((i) => [i.dishId, i])))

const every = 20_000 // ms between two loads of a visible menu
let generation = 0

/** Loads the branches once, and the menu of the selected one. An outdated answer is dropped. */
async function load(): Promise<void> {
  const mine = ++generation
  try {
    branches.value ??= await listBranches()
    const at = branch.value?.id
    if (at) void loadPopular(at)
    const got = at ? await menuOf(at) : undefined
    if (mine !== generation) return
    menu.value = got
    fault.value = undefined
    offline.value = false
  } catch (e) {
    if (mine !== generation || !isFault(e)) return
    fault.value = e
    offline.value = e.passing
  }
}

/** Selects a branch. */
function choose(id: string): void {
  if (id === branch.value?.id) return
  chosen.value = id
  menu.value = undefined
  remember(id)
  void load()
}

/** Fetches the menu of the selected branch in another language. */
function fetchIn(locale: string): Promise<Menu> {
  return menuOf(branch.value?.id ?? '', locale)
}

function recall(): string {
  try {
    return sessionStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

function remember(id: string): void {
  try {
    sessionStorage.setItem(key, id)
  } catch {
    // Without storage, the choice lasts until the next reload.
  }
}

/** The restaurant's branches and menu. */
export function useBranches() {
  return { branches, branch, menu, fault, dishes, load, choose, fetchIn }
}

/** Reloads the menu while the page that shows it is visible. */
export function useFreshMenu(): void {
  void load()
  const timer = setInterval(() => {
    if (!document.hidden) void load()
  }, every)
  const seen = () => {
    if (!document.hidden) void load()
  }
  document.addEventListener('visibilitychange', seen)
  watch(language, load)
  onReconnect(() => fault.value && load())
  onScopeDispose(() => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', seen)
  })
}
