import { isFault } from './api/fault'

// A refresh token is valid once. For ten seconds the server repeats its answer, in case the client did not receive it. After
// that, a spent token counts as stolen and ends the session. Therefore only one tab at a time refreshes, and repeats a lost
// request soon. Pages without encryption have no browser locks and rely on the ten seconds alone.

/** The tokens that a login or a refresh returns. */
export interface TokenPair {
  accessToken: string
  expiresIn: number // s
  refreshToken: string
}

/** The time limit of one refresh request, in ms. All attempts and their pauses fit into the ten seconds. */
export const refreshTimeout = 2500
const tries = 3
const pauseBetween = 1000

const margin = 30_000 // ms before its expiry at which an access token is no longer sent

/** An access token. It is stored in memory only. */
export class AccessToken {
  private token = ''
  private expires = 0

  constructor(private readonly now: () => number = Date.now) {}

  /** The token; empty without one. */
  get bearer(): string {
    return this.token
  }

  /** Whether the token can still be sent. */
  get valid(): boolean {
    return this.token !== '' && this.now() < this.expires
  }

  set(pair: TokenPair): void {
    this.token = pair.accessToken
    this.expires = this.now() + pair.expiresIn * 1000 - margin
  }

  clear(): void {
    this.token = ''
    this.expires = 0
  }
}

/** Sends a refresh request, and repeats it if the answer is lost. */
export async function sendRefresh<T>(send: () => Promise<T>, pause = pauseBetween): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await send()
    } catch (e) {
      if (n === tries || !isFault(e, 'offline')) throw e
      await new Promise((done) => setTimeout(done, pause))
    }
  }
}

/** Runs one refresh at a time, in one tab at a time. Concurrent callers share its result. */
export class RefreshFlight<T> {
  private flight: Promise<T> | undefined

  constructor(private readonly lock: string, private readonly refresh: () => Promise<T>) {}

  /** The refresh that is running. */
  get running(): Promise<T> | undefined {
    return this.flight
  }

  run(): Promise<T> {
    this.flight ??= this.alone().finally(() => {
      this.flight = undefined
    })
    return this.flight
  }

  private alone(): Promise<T> {
    const locks = (navigator as Partial<Navigator>).locks
    return locks ? (locks.request(this.lock, this.refresh) as Promise<T>) : this.refresh()
  }
}
