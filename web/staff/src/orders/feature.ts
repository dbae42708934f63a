import { mdiAlertDecagramOutline, mdiCashRegister, mdiReceiptTextOutline } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/counter', name: 'counter', component: () => import('./CounterView.vue'),
      meta: { title: 'orders.counter', needs: ['GET /api/boards/{branchId}', 'POST /api/orders/{id}/payments'] },
    },
    {
      path: '/orders', name: 'orders', component: () => import('./OrdersView.vue'),
      meta: { title: 'orders.orders', needs: ['GET /api/orders'], retired: true },
    },
    {
      path: '/orders/:id', name: 'order', component: () => import('./OrderView.vue'), props: true,
      meta: { entry: 'orders', title: 'orders.order', needs: ['GET /api/orders/{id}'], retired: true },
    },
    {
      path: '/payments', name: 'exceptions', component: () => import('./ExceptionsView.vue'),
      meta: { title: 'orders.exceptions', needs: ['GET /api/payments/exceptions'], retired: true },
    },
  ],
  nav: [
    { to: 'orders', text: 'orders.orders', icon: mdiReceiptTextOutline, group: 'floor', order: 25, needs: ['GET /api/orders'] },
    {
      to: 'counter', text: 'orders.counter', icon: mdiCashRegister, group: 'floor', order: 20,
      needs: ['GET /api/boards/{branchId}', 'POST /api/orders/{id}/payments'],
    },
    {
      to: 'exceptions', text: 'orders.exceptions', icon: mdiAlertDecagramOutline, group: 'floor', order: 40,
      needs: ['GET /api/payments/exceptions'],
    },
  ],
}
