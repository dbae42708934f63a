import { mdiFoodOff } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/availability', name: 'availability', component: () => import('./AvailabilityView.vue'),
      meta: { title: 'availability.title', needs: ['GET /api/branches/{id}/availability'] },
    },
  ],
  nav: [
    {
      to: 'availability', text: 'availability.title', icon: mdiFoodOff, group: 'floor', order: 35,
      needs: ['GET /api/branches/{id}/availability'],
    },
  ],
}
