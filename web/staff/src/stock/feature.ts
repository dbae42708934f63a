import { mdiPackageVariantClosed, mdiScaleBalance, mdiTrayFull } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/stock', name: 'stock', component: () => import('./StockView.vue'),
      meta: { title: 'stock.title', needs: ['GET /api/stock/items'] },
    },
    {
      path: '/recipes', name: 'recipes', component: () => import('./RecipesView.vue'),
      meta: { title: 'stock.recipes', needs: ['GET /api/branches/{id}/availability', 'GET /api/menu-items/{id}/recipe'] },
    },
    {
      path: '/reservations', name: 'reservations', component: () => import('./ReservationsView.vue'),
      meta: { title: 'stock.reservations', needs: ['GET /api/stock/reservations'] },
    },
  ],
  nav: [
    {
      to: 'stock', text: 'stock.title', icon: mdiPackageVariantClosed, group: 'restaurant', order: 30,
      needs: ['GET /api/stock/items'],
    },
    {
      to: 'recipes', text: 'stock.recipes', icon: mdiScaleBalance, group: 'restaurant', order: 40,
      needs: ['GET /api/branches/{id}/availability', 'GET /api/menu-items/{id}/recipe'],
    },
    {
      to: 'reservations', text: 'stock.reservations', icon: mdiTrayFull, group: 'advanced', order: 10,
      needs: ['GET /api/stock/reservations'],
    },
  ],
}
