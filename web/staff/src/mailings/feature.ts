import { mdiEmailMultipleOutline } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/mailings', name: 'mailings', component: () => import('./MailingsView.vue'),
      meta: { title: 'mailings.title', needs: ['GET /api/segments', 'GET /api/mailings'] },
    },
  ],
  nav: [
    {
      to: 'mailings', text: 'mailings.title', icon: mdiEmailMultipleOutline, group: 'people', order: 15,
      needs: ['GET /api/segments', 'GET /api/mailings'],
    },
  ],
}
