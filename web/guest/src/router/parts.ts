import type { RouteRecordNormalized, Router } from 'vue-router'

import { fetchLanguages } from '@shared/i18n'
import { register } from '@shared/worker'

import { readBoot } from '../api/boot'
import { whenReachable } from '../shell/connection'

// The screens are separate files. They are loaded in advance, because a restaurant's network can fail at any time.

type Fetch = () => Promise<unknown>

/** Fetches the parts for the current use, at home or at a table, and the texts of all languages. */
export function fetchAhead(router: Router): void {
  const begun = new Set<boolean>()
  router.afterEach((to) => {
    const home = Boolean(to.meta.shop)
    if (to.name === 'landing' || begun.has(home)) return // the menu is loaded first
    begun.add(home)
    // The service worker is registered last: the files that it stores are in the browser's cache by then.
    void fetchAll([...partsOf(router.getRoutes(), home), fetchLanguages]).then(() => {
      if (readBoot().worker) void register('/app/worker.js', '/')
    })
  })
}

function partsOf(routes: RouteRecordNormalized[], home: boolean): Fetch[] {
  return routes
    .filter((r) => Boolean(r.meta.shop) === home)
    .flatMap((r) => Object.values(r.components ?? {}))
    .filter((c) => typeof c === 'function') as Fetch[]
}

/** Loads parts one after the other while the browser is idle, and retries failed ones once. */
export async function fetchAll(parts: Fetch[]): Promise<void> {
  for (const fetchPart of parts) {
    await idle()
    try {
      await fetchPart()
    } catch {
      await whenReachable()
      await fetchPart().catch(() => undefined) // another release: waitForParts handles it
    }
  }
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no idle callbacks.
    if ('requestIdleCallback' in window) requestIdleCallback(() => { resolve() }, { timeout: 2000 })
    else setTimeout(resolve, 100)
  })
}
