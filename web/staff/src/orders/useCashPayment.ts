import { computed, ref } from 'vue'

import { isFault } from '@shared/api/fault'
import { t } from '../shell/i18n'
import { complain, notify } from '../shell/notices'
import { useDo } from '../shell/query'
import { api, ask } from '../shell/session'
import { paidInCash } from './order'

/** A payment of an order's total at the counter. */
export interface CashPayment {
  id: string
  number: string
  totalPrice: number
  late: boolean // of an order that timed out
}

/**
 * Payments at the counter. The dialog may show another order before the answer arrives: the result is that of the order in
 * the request, and `close` is called only while the dialog still shows it.
 */
export function useCashPayment(shown: () => string | undefined, close: () => void) {
  const uncertain = ref(new Set<string>()) // orders whose payment has an unknown outcome
  const taken = (o: CashPayment) => t('orders.taken', { number: o.number })
  const repeated = (e: unknown, o: CashPayment) => isFault(e, 'already_paid') && uncertain.value.has(o.id)

  const take = useDo(
    (o: CashPayment) =>
      api.POST('/api/orders/{id}/payments', {
        params: { path: { id: o.id } }, body: { method: 'COUNTER', amount: o.totalPrice, late: o.late },
      }),
    {
      touches: ['order', 'orders', 'counter', 'exceptions'],
      done: (_, o) => taken(o),
      failed: (e, o) => {
        if (e.passing) uncertain.value.add(o.id)
        return repeated(e, o)
      },
    },
  )

  function finish(o: CashPayment) {
    if (shown() === o.id) close()
  }

  /** Checks whether this payment paid the order although its answer was lost. */
  async function lookUp(o: CashPayment, e: unknown) {
    if (!repeated(e, o)) return
    const order = await ask(() => api.GET('/api/orders/{id}', { params: { path: { id: o.id } } })).catch(() => undefined)
    if (!order || !paidInCash(order)) {
      complain(e)
      return
    }
    notify(taken(o))
    finish(o)
  }

  return {
    /** Whether the payment of the shown order is being recorded. */
    busy: computed(() => take.isPending.value && take.variables.value?.id === shown()),
    /** Records a payment of the order's total. The change is returned in cash. */
    pay: (o: CashPayment) => take.mutateAsync(o).then(() => {
      finish(o)
    }, (e: unknown) => lookUp(o, e)),
  }
}
