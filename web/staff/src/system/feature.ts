import { mdiEmailAlertOutline, mdiHeartPulse, mdiStethoscope } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/system', name: 'system', component: () => import('./StateView.vue'),
      meta: { title: 'system.state', needs: ['GET /api/system/readiness'] },
    },
    {
      path: '/system/letters', name: 'letters', component: () => import('./LettersView.vue'),
      meta: { title: 'system.letters', needs: ['GET /api/system/dead-letters'] },
    },
    {
      path: '/system/checks', name: 'checks', component: () => import('./ChecksView.vue'),
      meta: { title: 'system.checks', needs: ['POST /api/system/reconcile'] },
    },
  ],
  nav: [
    { to: 'system', text: 'system.state', icon: mdiHeartPulse, group: 'advanced', order: 20, needs: ['GET /api/system/readiness'] },
    { to: 'letters', text: 'system.letters', icon: mdiEmailAlertOutline, group: 'advanced', order: 30, needs: ['GET /api/system/dead-letters'] },
    { to: 'checks', text: 'system.checks', icon: mdiStethoscope, group: 'advanced', order: 40, needs: ['POST /api/system/reconcile'] },
  ],
}
