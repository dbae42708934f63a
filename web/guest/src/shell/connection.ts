import { ref, watch } from 'vue'

/** Whether the server was out of reach when it was last asked for something. */
export const offline = ref(false)

const shortest = 1000 // milliseconds between two attempts to reach the server
const longest = 8000
const patience = 5000

let asking: Promise<void> | undefined

/** Learns from a device that knows itself whether it has a network. */
export function watchConnection(): void {
  addEventListener('offline', () => {
    offline.value = true
  })
  addEventListener('online', () => {
    offline.value = false
  })
}

/**
 * Resolves when the server answers, and asks it until it does. Whoever was refused by the network calls it: pages without
 * a stream learn only in this way that the server is back.
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
      // It is still away.
    }
    offline.value = true
  }
  offline.value = false
}

/** Waits, but not when the network comes back. */
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

/** Does something each time the server is back, for as long as the component or store lives that asks for it. */
export function onReconnect(act: () => unknown): void {
  watch(offline, (away) => {
    if (!away) void act()
  })
}
