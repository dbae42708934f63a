import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'

import { isFault, type Fault } from '@shared/api/fault'

import { forgetAlerts } from '../order/readyalert'
import { forgetVoucher } from '../pay/voucher'
import { onReconnect } from '../shell/connection'
import * as api from './api'
import type { Account, Changes, Credentials, GoogleCode, Grant } from './dto'
import { keptKey } from './tokens'

/** The member who is logged in. All tabs of a browser share the login. */
export const useAccount = defineStore('account', () => {
  const user = shallowRef<Account>()
  /** Whether a login is stored, also while it cannot be restored. The server may have ended it. */
  const kept = ref(isKept())
  /** How the last login ended; the screens show it once. */
  const ended = ref<'left' | 'lost'>()
  const busy = ref(false)
  /** Why the stored login could not be restored; undefined without a failure. */
  const fault = shallowRef<Fault>()
  let restoring: Promise<void> | undefined

  /** Restores the stored login. Without an answer of the server it retries when the server is back. */
  function restore(): Promise<void> {
    if (user.value || !api.tokens.holder) return Promise.resolve()
    restoring ??= renew().finally(() => {
      restoring = undefined
    })
    return restoring
  }

  async function renew(): Promise<void> {
    try {
      const grant = await api.tokens.renew()
      if (grant && api.tokens.holder === grant.user.id) user.value = grant.user
      fault.value = undefined
    } catch (e) {
      if (!isFault(e)) throw e
      fault.value = e
    }
  }

  onReconnect(restore)

  async function enter(credentials: Credentials): Promise<void> {
    take(await api.login(credentials))
  }

  /** Logs in with Google; true if that has created the account. */
  async function enterWithGoogle(code: GoogleCode): Promise<boolean> {
    const grant = await api.finishGoogle(code)
    take(grant)
    return grant.newAccount ?? false
  }

  async function connectGoogle(code: GoogleCode): Promise<void> {
    update(await api.finishGoogleLink(code))
  }

  /** Shows a changed account, unless its member has left in the meantime. */
  function update(changed: Account): void {
    if ((api.tokens.holder ?? user.value?.id) === changed.id) user.value = changed
  }

  function take(grant: Grant): void {
    api.tokens.take(grant)
    ended.value = undefined
    user.value = grant.user
    kept.value = true
  }

  /** Logs out in all tabs. If the server cannot be reached, the session expires there after a month. */
  async function leave(): Promise<void> {
    busy.value = true
    const token = api.tokens.refreshToken
    try {
      if (token) await api.logout(token)
    } catch (e) {
      if (!isFault(e)) throw e
    }
    busy.value = false
    api.tokens.forget()
    gone('left')
  }

  /** Forgets what this tab keeps for the member. */
  function forgetMember(): void {
    forgetAlerts('member')
    forgetVoucher('member')
  }

  function gone(how: 'left' | 'lost'): void {
    forgetMember()
    api.tokens.drop()
    user.value = undefined
    fault.value = undefined
    kept.value = false
    ended.value = how
  }

  api.tokens.onLost = () => {
    gone('lost')
  }

  /** Follows a login or logout of another tab. */
  function onStorage(key: string | null): void {
    if (key !== null && key !== keptKey) return
    const holder = api.tokens.holder
    if (!holder && kept.value) gone('left')
    else if (holder && holder !== user.value?.id) {
      kept.value = true
      api.tokens.drop()
      if (user.value) forgetMember() // another member has logged in
      user.value = undefined
      void restore()
    }
  }

  async function change(changes: Changes): Promise<void> {
    update(await api.changeMe(changes))
  }

  return { user, kept, fault, ended, busy, restore, enter, enterWithGoogle, connectGoogle, leave, onStorage, change, update }
})

/** Whether a login is stored. The server may have ended it. */
export function isKept(): boolean {
  return api.tokens.holder !== undefined
}
