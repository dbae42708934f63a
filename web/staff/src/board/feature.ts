import { mdiSilverwareForkKnife } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/board', name: 'board', component: () => import('./BoardView.vue'),
      meta: { title: 'board.title', needs: ['GET /api/boards/{branchId}/events'] },
    },
  ],
  nav: [
    {
      to: 'board', text: 'board.title', icon: mdiSilverwareForkKnife, group: 'floor', order: 10,
      needs: ['GET /api/boards/{branchId}/events'],
    },
  ],
}
