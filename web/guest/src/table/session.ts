import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'

import { newTxnId } from '@shared/txn'

import { land, useToken } from '../api/public'
import type { Landed, Table } from '../api/dto'
import type { CartLine } from '../cart/line'
import { forgetAlerts } from '../order/readyalert'
import { currentKey, draftKey, forgetDrafts, readCurrent, readDraft, writeDraft, type Draft } from './draft'

/** The phone's visit and its stored draft. */
export const useSession = defineStore('session', () => {
  const draft = shallowRef<Draft>()
  const leftover = shallowRef<CartLine[]>([]) // from the previous visit; offered once
  const moved = ref(false) // another tab of this phone has joined another table

  function take(d: Draft | undefined): void {
    draft.value = d
    moved.value = false
    useToken(d?.visitToken ?? '')
  }

  /** Restores the stored visit. */
  function resume(): void {
    take(readCurrent())
  }

  let requested: { qr: string; landed: Promise<Landed> } | undefined

  /** Sends the request of the next `enter` ahead, while the page is still loading. */
  function request(qr: string): void {
    const landed = land(qr)
    landed.catch(() => undefined) // `enter` handles it
    requested = { qr, landed }
  }

  /** Joins the visit of the scanned table. */
  async function enter(qr: string): Promise<void> {
    const before = draft.value
    const landed = requested?.qr === qr ? requested.landed : land(qr)
    requested = undefined
    const l = await landed
    const same = before?.visitId === l.visitId
    if (before && !same && before.branch.id === l.branchId) leftover.value = before.own ?? before.cartDraft.filter((l) => l.qty > 0)
    take({
      schemaVersion: 1,
      visitToken: l.customerToken,
      visitId: l.visitId,
      branch: l.branch,
      table: { id: l.tableId, label: l.tableLabel },
      menuVersion: same ? before.menuVersion : '',
      cartDraft: same ? before.cartDraft : [],
      clientTxnId: same ? before.clientTxnId : newTxnId(),
    })
    keep({})
    forgetDrafts(l.visitId)
  }

  /** Stores a change. */
  function keep(change: Partial<Draft>): void {
    if (!draft.value || moved.value) return
    draft.value = { ...draft.value, ...change }
    writeDraft(draft.value)
  }

  /** Stores whether the table has a shared cart. */
  function share(sharedCart: boolean): void {
    const branch = draft.value?.branch
    if (branch && branch.sharedCart !== sharedCart) keep({ branch: { ...branch, sharedCart } })
  }

  /** Stores the table of a visit, which staff may have moved. */
  function seat(visitId: string, table: Table): void {
    const d = draft.value
    if (!table.id) return // the server is of an older release
    if (d?.visitId === visitId && (d.table.id !== table.id || d.table.label !== table.label)) keep({ table })
  }

  /** Follows a change of another tab. */
  function onStorage(key: string | null, value: string | null): void {
    const mine = draft.value
    if (!mine) return
    if (key === draftKey(mine.visitId) && value) draft.value = readDraft(mine.visitId) ?? mine
    if (key === currentKey && value && value !== mine.visitId) moved.value = true
  }

  function forget(): void {
    forgetDrafts()
    forgetAlerts('guest')
    leftover.value = []
    take(undefined)
  }

  return {
    draft, leftover, moved, resume, request, enter, keep, share, seat, onStorage, forget,
    branch: computed(() => draft.value?.branch),
    table: computed(() => draft.value?.table),
  }
})
