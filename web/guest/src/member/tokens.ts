import { isFault } from '@shared/api/fault'
import { AccessToken, RefreshFlight, sendRefresh } from '@shared/refresh'

import type { Grant } from './dto'

/** The part of a login that all tabs of this browser share. The access token is never shared. */
interface Kept {
  refreshToken: string
  userId: string
}

/** The key in local storage. Other tabs are notified of changes. */
export const keptKey = 'comanda.member'

export interface TokensOptions {
  /** Exchanges a refresh token for new tokens, within refreshTimeout. */
  spend: (refreshToken: string) => Promise<Grant>
  now?: () => number
  pause?: number // ms between the attempts of one refresh
}

/** Tokens stores the tokens of a member's login and refreshes them. */
export class Tokens {
  private readonly access: AccessToken
  private readonly flight = new RefreshFlight(keptKey, () => this.exchange())

  /** Called when the server has ended the login. */
  onLost: (() => void) | undefined

  constructor(private readonly options: TokensOptions) {
    this.access = new AccessToken(options.now)
  }

  /** The access token; empty without one. */
  get bearer(): string {
    return this.access.bearer
  }

  /** The user whose login is stored. */
  get holder(): string | undefined {
    return readStored()?.userId
  }

  /** The refresh token, for the logout request. */
  get refreshToken(): string | undefined {
    return readStored()?.refreshToken
  }

  /** Stores the tokens of a login. */
  take(grant: Grant): void {
    this.access.set(grant)
    writeStored({ refreshToken: grant.refreshToken, userId: grant.user.id })
  }

  /** Removes the login, in all tabs. */
  forget(): void {
    this.drop()
    try {
      localStorage.removeItem(keptKey)
    } catch {
      // Nothing was stored.
    }
  }

  /** Forgets the access token of this tab. */
  drop(): void {
    this.access.clear()
  }

  /** Returns a valid access token, or an empty text without a login. */
  async valid(): Promise<string> {
    if (!this.access.valid) await this.renew()
    return this.bearer
  }

  /**
   * Fetches a new pair of tokens, unless `refused` was already replaced. If the login has ended, it removes the login and
   * returns undefined. It throws if the server cannot be reached.
   */
  async renew(refused?: string): Promise<Grant | undefined> {
    if (refused !== undefined && this.bearer && this.bearer !== refused) return undefined
    return this.flight.run()
  }

  private async exchange(): Promise<Grant | undefined> {
    for (;;) {
      const kept = readStored()
      this.drop()
      if (!kept) return undefined
      try {
        const grant = await sendRefresh(() => this.options.spend(kept.refreshToken), this.options.pause)
        // After a logout in this or another tab, the grant is discarded.
        if (readStored()?.userId === kept.userId) this.take(grant)
        return grant
      } catch (e) {
        if (!isFault(e, 'refresh_token_invalid')) throw e
        if (readStored()?.refreshToken !== kept.refreshToken) continue // another tab was faster
        this.forget()
        this.onLost?.()
        return undefined
      }
    }
  }
}

/** Reads and validates the stored login: an older release may have written another format. */
function readStored(): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(keptKey) ?? '') as Partial<Kept> | null
    if (typeof kept?.refreshToken === 'string' && kept.refreshToken && typeof kept.userId === 'string') return kept as Kept
  } catch {
    // Nothing usable is stored.
  }
  return undefined
}

function writeStored(kept: Kept): void {
  try {
    localStorage.setItem(keptKey, JSON.stringify(kept))
  } catch {
    // Without storage, the login lasts as long as its first access token.
  }
}
