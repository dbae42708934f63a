import { ref } from 'vue'
import type { Router } from 'vue-router'

import { reloadStylesheets } from './stylesheets'

/** Whether the requested screen cannot be loaded right now. */
export const missingPart = ref(false)

/**
 * Keeps people in the app if the files of a screen cannot be fetched: the screen opens as soon as the server is back, unless
 * they have gone to another one. If the server answers but lacks the file, it runs another release, and the page is reloaded
 * from it. No screen is shown without its styles. `whenReachable` waits until the server answers.
 */
export function waitForParts(router: Router, whenReachable: () => Promise<void>): void {
  router.beforeResolve(reloadStylesheets)
  let turn = 0
  let tried = ''
  router.onError(async (_, to) => {
    const mine = ++turn
    missingPart.value = true
    await whenReachable()
    if (mine !== turn) return
    if (tried === to.fullPath) {
      location.assign(router.resolve(to.fullPath).href)
      return
    }
    tried = to.fullPath
    await router.push(to.fullPath).catch(() => undefined) // onError handles it
  })
  router.afterEach((_to, _from, failure) => {
    if (failure) return
    turn++
    tried = ''
    missingPart.value = false
  })
}
