import { mdiChartBar } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/reports/:name?', name: 'reports', component: () => import('./ReportsView.vue'),
      meta: { title: 'reports.title', needs: ['GET /api/reports/sales-days'], retired: true },
    },
  ],
  nav: [
    {
      to: 'reports', text: 'reports.title', icon: mdiChartBar, group: 'figures', order: 10,
      needs: ['GET /api/reports/sales-days'],
    },
  ],
}
