import { ref, watch } from 'vue'

/** Whether the last request did not reach the server. */
export const offline = ref(false)

const shortest = 1000 // milliseconds between two attempts to reach the server
const longest = 8000
const patience = 5000

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
  for (let wait = shortest; ; wait = Math.min(wait * 2, longest)) {
    await pause(wait)
    try {
      const { ok } = await fetch('/app', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(patience) })
      if (ok) break
    } catch {
      // The server is still unreachable.
    }
    offline.value = true
  }
  offline.value = false
}

/** Waits until the pause ends or the network is back. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    addEventListener('online', done)
  })
}

/** Runs an action each time the server is reachable again, until the calling component or store is disposed. */
export function onReconnect(act: () => unknown): void {
  watch(offline, (away) => {
    if (!away) void act()
  })
}
