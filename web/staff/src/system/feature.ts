import { mdiEmailAlertOutline, mdiEmailOutline, mdiHeartPulse, mdiStethoscope } from '@mdi/js'

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
      path: '/system/mail', name: 'mail', component: () => import('./MailView.vue'),
      meta: { title: 'system.mail', needs: ['GET /api/system/mail'] },
    },
    {
      path: '/system/checks', name: 'checks', component: () => import('./ChecksView.vue'),
      meta: { title: 'system.checks', needs: ['POST /api/system/reconcile'] },
    },
  ],
  nav: [
    { to: 'system', text: 'system.state', icon: mdiHeartPulse, group: 'advanced', order: 20, needs: ['GET /api/system/readiness'] },
    { to: 'letters', text: 'system.letters', icon: mdiEmailAlertOutline, group: 'advanced', order: 30, needs: ['GET /api/system/dead-letters'] },
    { to: 'mail', text: 'system.mail', icon: mdiEmailOutline, group: 'advanced', order: 35, needs: ['GET /api/system/mail'] },
    { to: 'checks', text: 'system.checks', icon: mdiStethoscope, group: 'advanced', order: 40, needs: ['POST /api/system/reconcile'] },
  ],
}
