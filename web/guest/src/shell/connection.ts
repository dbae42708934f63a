import { ref, watch } from 'vue'

import { untilReachable } from '@shared/reachable'

/** Whether the last request did not reach the server. */
export const offline = ref(false)

let asking: Promise<void> | undefined

/** Follows the device's own network state. */
export function watchConnection(): void {
  addEventListener('offline', () => {
    offline.value = true
  })
  addEventListener('online', () => {
    offline.value = false
  })
}

/**
 * Polls the server until it answers. It is called after a request that did not reach the server, because pages without a
 * stream cannot see otherwise that it is back.
 */
export function whenReachable(): Promise<void> {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}

async function ask(): Promise<void> {
  await untilReachable('/app', () => {
    offline.value = true
  })
  offline.value = false
}

/** Runs an action each time the server is reachable again, until the calling component or store is disposed. */
export function onReconnect(act: () => unknown): void {
  watch(offline, (away) => {
    if (!away) void act()
  })
}
