import { mdiCogOutline, mdiFlagCheckered, mdiHomeOutline, mdiPaletteOutline, mdiStoreOutline } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    { path: '/setup', name: 'setup', component: () => import('./SetupView.vue'), meta: { open: true, plain: true, title: 'restaurant.setup' } },
    {
      path: '/today', name: 'today', component: () => import('./TodayView.vue'),
      meta: { title: 'restaurant.today', needs: ['GET /api/reports/sales-days'] },
    },
    {
      path: '/start', name: 'start', component: () => import('./StartView.vue'),
      meta: { title: 'restaurant.start', needs: ['POST /api/branches'] },
    },
    {
      path: '/branches', name: 'branches', component: () => import('./BranchesView.vue'),
      meta: { title: 'restaurant.branches', needs: ['GET /api/branches', 'PATCH /api/branches/{id}'] },
    },
    {
      path: '/brand', name: 'brand', component: () => import('./BrandView.vue'),
      meta: { title: 'restaurant.brand', needs: ['GET /api/brand'] },
    },
    {
      path: '/settings', name: 'settings', component: () => import('./SettingsView.vue'),
      meta: { title: 'restaurant.settings', needs: ['GET /api/settings'] },
    },
  ],
  nav: [
    // Ranked before the board: the start page for managers.
    { to: 'today', text: 'restaurant.today', icon: mdiHomeOutline, group: 'floor', order: 0, needs: ['GET /api/reports/sales-days'] },
    { to: 'start', text: 'restaurant.start', icon: mdiFlagCheckered, group: 'restaurant', order: 5, needs: ['POST /api/branches'] },
    { to: 'branches', text: 'restaurant.branches', icon: mdiStoreOutline, group: 'restaurant', order: 80, needs: ['GET /api/branches', 'PATCH /api/branches/{id}'] },
    { to: 'brand', text: 'restaurant.brand', icon: mdiPaletteOutline, group: 'restaurant', order: 85, needs: ['GET /api/brand'] },
    { to: 'settings', text: 'restaurant.settings', icon: mdiCogOutline, group: 'restaurant', order: 90, needs: ['GET /api/settings'] },
  ],
}
