import { mdiCogOutline, mdiFlagCheckered, mdiHomeOutline, mdiPaletteOutline, mdiStoreOutline } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    { path: '/setup', name: 'setup', component: () => import('./SetupView.vue'), meta: { open: true, bare: true, title: 'house.setup' } },
    {
      path: '/today', name: 'today', component: () => import('./TodayView.vue'),
      meta: { title: 'house.today', needs: ['GET /api/reports/sales-days'] },
    },
    {
      path: '/start', name: 'start', component: () => import('./StartView.vue'),
      meta: { title: 'house.start', needs: ['POST /api/branches'] },
    },
    {
      path: '/branches', name: 'branches', component: () => import('./BranchesView.vue'),
      meta: { title: 'house.branches', needs: ['GET /api/branches', 'PATCH /api/branches/{id}'] },
    },
    {
      path: '/brand', name: 'brand', component: () => import('./BrandView.vue'),
      meta: { title: 'house.brand', needs: ['GET /api/brand'] },
    },
    {
      path: '/settings', name: 'settings', component: () => import('./SettingsView.vue'),
      meta: { title: 'house.settings', needs: ['GET /api/settings'] },
    },
  ],
  nav: [
    // Before the board: the start page of those who run a branch.
    { to: 'today', text: 'house.today', icon: mdiHomeOutline, group: 'floor', order: 0, needs: ['GET /api/reports/sales-days'] },
    { to: 'start', text: 'house.start', icon: mdiFlagCheckered, group: 'house', order: 5, needs: ['POST /api/branches'] },
    { to: 'branches', text: 'house.branches', icon: mdiStoreOutline, group: 'house', order: 80, needs: ['GET /api/branches', 'PATCH /api/branches/{id}'] },
    { to: 'brand', text: 'house.brand', icon: mdiPaletteOutline, group: 'house', order: 85, needs: ['GET /api/brand'] },
    { to: 'settings', text: 'house.settings', icon: mdiCogOutline, group: 'house', order: 90, needs: ['GET /api/settings'] },
  ],
}
