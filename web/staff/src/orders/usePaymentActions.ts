import { t } from '../shell/i18n'
import { confirm } from '../shell/notices'
import { useDo } from '../shell/query'
import { api } from '../shell/session'

interface Place {
  id: string // the order's id
  paymentId: string
}

/** The actions on payments with an unknown outcome and on failed refunds. */
export function usePaymentActions() {
  const touches = ['order', 'orders', 'exceptions']
  const check = useDo(
    (path: Place) => api.POST('/api/orders/{id}/payments/{paymentId}/check', { params: { path } }),
    { touches, done: () => t('orders.checked') },
  )
  const recordResult = useDo(
    ({ state, reason, ...path }: Place & { state: 'PAID' | 'FAILED'; reason: string }) =>
      api.POST('/api/orders/{id}/payments/{paymentId}', { params: { path }, body: { state, reason } }),
    { touches, done: () => t('orders.noted') },
  )
  const clear = useDo(
    ({ reason, ...path }: Place & { reason: string }) =>
      api.POST('/api/orders/{id}/payments/{paymentId}/mismatch', { params: { path }, body: { reason } }),
    { touches, done: () => t('orders.noted') },
  )
  const finish = useDo(
    ({ state, reason, ...path }: { id: string; refundId: string; state: 'SENDING' | 'DONE'; reason: string }) =>
      api.POST('/api/orders/{id}/refunds/{refundId}', { params: { path }, body: { state, reason } }),
    { touches, done: () => t('orders.noted') },
  )

  const because = (title: string, text?: string) =>
    confirm({ title, action: t('orders.note'), reason: t('orders.reason'), ...(text ? { text } : {}) })

  return {
    checking: check.isPending,
    check: (id: string, paymentId: string) => {
      check.mutate({ id, paymentId })
    },
    async recordResult(id: string, paymentId: string, state: 'PAID' | 'FAILED') {
      const reason = await because(t(`orders.judge_${state}`), t('orders.judge_hint'))
      if (reason) recordResult.mutate({ id, paymentId, state, reason })
    },
    async clear(id: string, paymentId: string) {
      const reason = await because(t('orders.clear_mismatch'), t('orders.clear_hint'))
      if (reason) clear.mutate({ id, paymentId, reason })
    },
    async finish(id: string, refundId: string, state: 'SENDING' | 'DONE') {
      const reason = await because(t(`orders.finish_${state}`))
      if (reason) finish.mutate({ id, refundId, state, reason })
    },
  }
}
