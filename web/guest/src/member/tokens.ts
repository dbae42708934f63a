import { isFault } from '@shared/api/fault'

import type { Grant } from './dto'

/** What is kept of a login, for all tabs of this browser: never the access token. */
interface Kept {
  refreshToken: string
  userId: string
}

/** The key under which it is kept. Other tabs hear of its changes. */
export const keptKey = 'comanda.member'

const margin = 30_000 // milliseconds before its end at which an access token is no longer sent
const tries = 3 // of one refresh

export interface TokensOptions {
  /** Spends a refresh token. It gives up soon enough to be tried again while the server still repeats its answer. */
  spend: (refreshToken: string) => Promise<Grant>
  now?: () => number
}

/**
 * Keeps the tokens of a login. A refresh token is good once: whoever shows one that was spent ten seconds ago ends the
 * session. So one tab at a time refreshes, with the token that was kept last, and a lost answer is asked for again at
 * once. Where the browser has no locks, those ten seconds have to do.
 */
export class Tokens {
  private access = ''
  private until = 0
  private renewing: Promise<Grant | undefined> | undefined

  /** Told when the server has ended the login. */
  onLost: (() => void) | undefined

  constructor(private readonly options: TokensOptions) {}

  /** The access token at hand; empty where there is none. */
  get bearer(): string {
    return this.access
  }

  /** Whose login is kept here, as far as anything is. */
  get holder(): string | undefined {
    return readKept()?.userId
  }

  /** The refresh token, for leaving. */
  get refreshToken(): string | undefined {
    return readKept()?.refreshToken
  }

  /** Begins with what a login has given. */
  take(grant: Grant): void {
    this.access = grant.accessToken
    this.until = this.now() + grant.expiresIn * 1000 - margin
    writeKept({ refreshToken: grant.refreshToken, userId: grant.user.id })
  }

  /** Forgets the login, in all tabs. */
  forget(): void {
    this.drop()
    try {
      localStorage.removeItem(keptKey)
    } catch {
      // Nothing was kept then.
    }
  }

  /** Forgets the access token of this tab. */
  drop(): void {
    this.access = ''
    this.until = 0
  }

  /** An access token that is good for a while, or an empty text when nobody is logged in. */
  async valid(): Promise<string> {
    if (!this.access || this.now() >= this.until) await this.renew()
    return this.access
  }

  /**
   * Gets another pair, unless `refused` was replaced already. It gives undefined when the login has ended, which is then
   * forgotten, and throws when the server cannot be reached.
   */
  async renew(refused?: string): Promise<Grant | undefined> {
    if (refused !== undefined && this.access && this.access !== refused) return undefined
    this.renewing ??= alone(() => this.exchange()).finally(() => {
      this.renewing = undefined
    })
    return this.renewing
  }

  private async exchange(): Promise<Grant | undefined> {
    for (;;) {
      const kept = readKept()
      this.drop()
      if (!kept) return undefined
      try {
        const grant = await this.spendPatiently(kept.refreshToken)
        // Somebody who logged out meanwhile, here or in another tab, stays so.
        if (readKept()?.userId === kept.userId) this.take(grant)
        return grant
      } catch (e) {
        if (!isFault(e, 'refresh_token_invalid')) throw e
        if (readKept()?.refreshToken !== kept.refreshToken) continue // another tab was faster
        this.forget()
        this.onLost?.()
        return undefined
      }
    }
  }

  private async spendPatiently(refreshToken: string): Promise<Grant> {
    for (let n = 1; ; n++) {
      try {
        return await this.options.spend(refreshToken)
      } catch (e) {
        if (n >= tries || !isFault(e, 'offline')) throw e
      }
    }
  }

  private now(): number {
    return (this.options.now ?? Date.now)()
  }
}

/** Runs something in one tab at a time. */
function alone<T>(what: () => Promise<T>): Promise<T> {
  // Pages that came without encryption have no locks.
  const locks = (navigator as Partial<Navigator>).locks
  return locks ? (locks.request(keptKey, what) as Promise<T>) : what()
}

/** Reads with suspicion what may have been left by an older release or by an accident. */
function readKept(): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(keptKey) ?? '') as Partial<Kept> | null
    if (typeof kept?.refreshToken === 'string' && kept.refreshToken && typeof kept.userId === 'string') return kept as Kept
  } catch {
    // Nothing usable is kept.
  }
  return undefined
}

function writeKept(kept: Kept): void {
  try {
    localStorage.setItem(keptKey, JSON.stringify(kept))
  } catch {
    // The login lasts as long as its first access token then.
  }
}
