import { computed, nextTick, ref, shallowRef, watch } from 'vue'
import { useRouter } from 'vue-router'

import { isFault, type Fault } from '@shared/api/fault'
import type { Key } from '@shared/i18n'
import { wired } from '@shared/options'
import { newTxnId } from '@shared/txn'

import { methodsFor } from '../api/boot'
import type { Method } from '../api/dto'
import { createOrder, quoteOrder } from '../api/public'
import { useCart } from '../cart/cart'
import { closedText } from '../menu/hours'
import { useMenu } from '../menu/menu'
import { useTableOrders } from '../table/orders'
import { useSession } from '../table/session'
import { useQuote } from './quote'
import { useSubmit } from './submit'
import { useVoucher } from './voucher'

/**
 * Orders a table's cart. The visit's draft stores the order's clientTxnId until the server answers, so that the order is
 * placed once even if the guest closes the cart, reloads or loses the network.
 */
export function useCheckout() {
  const session = useSession()
  const cart = useCart()
  const menu = useMenu()
  const router = useRouter()
  const { state, cheaper: placedCheaper, submit, giveUp, left } = useSubmit(createOrder)
  const cheaper = ref(false) // the cart costs less than when its dishes were added

  const trouble = shallowRef<{ text: Key; link?: boolean }>()
  // The new total that the guest has to accept, or 0. Any change of the order resets it.
  const changed = ref<{ total: number; of: number }>()
  const asked = computed(() => (changed.value?.of === due.value ? changed.value.total : 0))
  const settling = ref(false) // while the shared cart's changes are being sent before the order
  let unanswered = false // an order was sent, and the guest did not wait for its answer
  const sending = computed(() => settling.value || state.value !== 'idle')
  const currency = computed(() => session.branch?.currency ?? 'VND')
  const items = () => cart.ordered.map(({ itemId, qty, notes, id, options }) => ({
    itemId, qty, ...(options?.length && { options: wired(options) }), ...(notes && { notes }), ...(id && { lineId: id }),
  }))
  const charged = () => cart.ordered.filter((l) => !l.gone).map(({ itemId, qty, options }) => ({
    itemId, qty, ...(options?.length && { options: wired(options) }),
  }))
  const voucher = useVoucher('guest')
  /** What the next order takes. The lines of a shared cart are the server's, which removes ordered ones itself. */
  const wanted = () => JSON.stringify([session.draft?.clientTxnId, cart.shared ? [] : items(), voucher.code.value])
  const quote = useQuote(() => menu.menu.value, charged, () => cart.due, voucher, (lines) =>
    quoteOrder({ items: lines, menuVersionId: menu.menu.value?.menuVersionId ?? '', ...voucher.wired() }))
  const due = quote.total
  const methods = computed(() => methodsFor(due.value, currency.value))
  const chosen = ref<Method>()
  // Gateways may have a minimum amount, so a change of the cart can remove or restore the chosen method.
  const method = computed<Method>({
    get: () => methods.value.find((m) => m === chosen.value) ?? methods.value[0] ?? 'COUNTER',
    set: (m) => { chosen.value = m },
  })
  const closed = computed(() => closedText(menu.menu.value?.closed, session.branch?.timezone))

  // The guest accepts the shown total. Changed prices of a new menu are shown first.
  watch(
    () => menu.menu.value?.menuVersionId,
    (version) => {
      if (!version || version === session.draft?.menuVersion) return
      cheaper.value = cart.cheaper
      if (cart.repriced && !cart.cheaper) trouble.value = { text: 'review.menuChanged' }
      cart.adopt()
    },
    { immediate: true },
  )

  async function order(): Promise<void> {
    const visit = session.draft
    const version = menu.menu.value?.menuVersionId
    if (!visit || !version || sending.value || closed.value || !quote.ready.value) return
    trouble.value = undefined
    cart.trouble = undefined
    cheaper.value = false
    if (cart.obstacle) {
      await showObstacle()
      return
    }
    settling.value = true
    const settled = await cart.settle().finally(() => { settling.value = false })
    if (!settled) {
      trouble.value = { text: 'review.failed' }
      return
    }
    if (!cart.ordered.length) { // the previous request did reach the server, or another phone has ordered everything
      await refused(unanswered ? 'idempotency_mismatch' : 'cart_changed')
      return
    }
    const before = wanted()
    try {
      const placed = await submit({
        items: items(),
        paymentMethod: method.value, clientTxnId: visit.clientTxnId, menuVersionId: version, visitId: visit.visitId,
        expectedTotal: asked.value || due.value, ...voucher.wired(),
      })
      unanswered = !placed
      if (!placed) return
      // A cart that the guest has changed since is another order. The server refuses it under the same clientTxnId, which tells
      // the guest that this one has arrived.
      if (left() && wanted() !== before) return
      cart.clear()
      voucher.enter('')
      if (left()) {
        void useTableOrders().load(visit.visitId) // the header shows it
        return
      }
      await router.replace({ name: 'confirm', params: { id: placed.id }, ...(placedCheaper.value && { state: { cheaper: true } }) })
      if (placed.payment.redirectUrl) location.assign(placed.payment.redirectUrl)
    } catch (e) {
      if (!isFault(e)) throw e
      changed.value = undefined
      if (voucher.refuse(e) || await refusedOptions(e)) return
      await refused(e.code, e.currentTotal)
    }
  }

  /** Moves the focus to the first line that cannot be ordered as it is. */
  async function showObstacle(): Promise<void> {
    await nextTick()
    if (cart.obstacle) document.getElementById(`line-${cart.obstacle.key}`)?.focus()
  }

  /** Leads to the lines whose options the server has refused, and reports whether there are such. */
  async function refusedOptions(e: Fault): Promise<boolean> {
    if (e.refusedOptions.length === 0) return false
    await menu.load()
    cart.adopt()
    cart.refuse(e.refusedOptions)
    trouble.value = { text: 'review.choose' }
    await showObstacle()
    return true
  }

  /** Shows the reason of a refusal and prepares the next attempt. */
  async function refused(code: string, total = 0): Promise<void> {
    switch (code) {
      case 'sold_out':
        await menu.load() // loads the available quantity of each line
        trouble.value = { text: 'review.soldOut' }
        break
      case 'price_changed':
        await menu.load()
        cart.adopt()
        changed.value = { total, of: due.value }
        break
      case 'cart_changed': // by another phone of the table
        await cart.reload()
        trouble.value = { text: 'review.cartChanged' }
        break
      case 'menu_version_closed':
      case 'item_unknown':
        await menu.load()
        cart.adopt()
        trouble.value = { text: 'review.menuChanged' }
        break
      case 'idempotency_mismatch': // an earlier attempt was accepted
        unanswered = false
        session.keep({ clientTxnId: newTxnId() })
        trouble.value = { text: 'review.arrived', link: true }
        break
      case 'too_many_unpaid':
        trouble.value = { text: 'review.unpaid', link: true }
        break
      case 'visit_closed':
      case 'customer_token_invalid':
        await router.replace({ name: 'closed', params: { reason: 'ended' } })
        break
      case 'outlet_paused':
        await menu.load() // loads the reason and the end of the pause
        await router.replace({ name: 'closed', params: { reason: 'branch' } })
        break
      case 'branch_closed':
        await menu.load() // loads the next opening time
        if (!closed.value) trouble.value = { text: 'hours.closed' }
        break
      default:
        trouble.value = { text: 'review.failed' }
    }
  }

  return { state, sending, quote, voucher, due, methods, method, closed, asked, cheaper, trouble, order, giveUp }
}
