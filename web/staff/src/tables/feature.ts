import { mdiTableFurniture } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/tables', name: 'tables', component: () => import('./TablesView.vue'),
      meta: { title: 'tables.title', needs: ['GET /api/tables'] },
    },
    {
      path: '/tables/plan', name: 'table-plan', component: () => import('./PlanView.vue'),
      meta: { entry: 'tables', title: 'tables.plan_edit', needs: ['GET /api/tables', 'PUT /api/branches/{id}/floor-plan'] },
    },
    {
      path: '/tables/sheet', name: 'table-sheet', component: () => import('./SheetView.vue'),
      meta: { title: 'tables.sheet', needs: ['GET /api/tables/qr-sheet'], bare: true },
    },
  ],
  nav: [{ to: 'tables', text: 'tables.title', icon: mdiTableFurniture, group: 'floor', order: 30, needs: ['GET /api/tables'] }],
}
