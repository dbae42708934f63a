import { mdiPercentOutline, mdiTicketPercentOutline } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/taxes', name: 'taxes', component: () => import('./TaxesView.vue'),
      meta: { title: 'pricing.title', needs: ['GET /api/branches/{id}/pricing', 'GET /api/tax-classes'] },
    },
    {
      path: '/vouchers', name: 'vouchers', component: () => import('./VouchersView.vue'),
      meta: { title: 'pricing.vouchers', needs: ['GET /api/branches/{id}/vouchers', 'GET /api/branches/{id}/pricing'] },
    },
  ],
  nav: [
    {
      to: 'taxes', text: 'pricing.title', icon: mdiPercentOutline, group: 'restaurant', order: 50,
      needs: ['GET /api/branches/{id}/pricing', 'GET /api/tax-classes'],
    },
    {
      to: 'vouchers', text: 'pricing.vouchers', icon: mdiTicketPercentOutline, group: 'restaurant', order: 55,
      needs: ['GET /api/branches/{id}/vouchers', 'GET /api/branches/{id}/pricing'],
    },
  ],
}
