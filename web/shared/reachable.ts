const shortest = 1000 // milliseconds between two attempts to reach the server
const longest = 8000
const patience = 5000

/** Polls a page of the server until it answers. `away` is called after each attempt that failed. */
export async function untilReachable(page: string, away: () => void = () => undefined): Promise<void> {
  for (let wait = shortest; ; wait = Math.min(wait * 2, longest)) {
    await pause(wait)
    try {
      const { ok } = await fetch(page, { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(patience) })
      if (ok) return
    } catch {
      // The server is still unreachable.
    }
    away()
  }
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
