import { mdiAccountGroupOutline, mdiBookClockOutline, mdiShieldKeyOutline } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/users', name: 'users', component: () => import('./UsersView.vue'),
      meta: { title: 'people.users', needs: ['GET /api/users'] },
    },
    {
      path: '/users/new', name: 'team', component: () => import('./TeamView.vue'),
      meta: { entry: 'users', title: 'people.team', needs: ['POST /api/users', 'GET /api/roles'] },
    },
    {
      path: '/roles', name: 'roles', component: () => import('./RolesView.vue'),
      meta: { title: 'people.roles', needs: ['GET /api/roles'] },
    },
    {
      path: '/roles/:id', name: 'role', component: () => import('./RoleView.vue'),
      meta: { entry: 'roles', title: 'people.roles', needs: ['GET /api/roles', 'GET /api/permissions'] },
    },
    {
      path: '/audit', name: 'audit', component: () => import('./AuditView.vue'),
      meta: { title: 'people.audit', needs: ['GET /api/audit'], retired: true },
    },
    { path: '/profile', name: 'profile', component: () => import('./ProfileView.vue'), meta: { title: 'people.profile' } },
  ],
  nav: [
    { to: 'users', text: 'people.users', icon: mdiAccountGroupOutline, group: 'people', order: 10, needs: ['GET /api/users'] },
    { to: 'roles', text: 'people.roles', icon: mdiShieldKeyOutline, group: 'people', order: 20, needs: ['GET /api/roles'] },
    { to: 'audit', text: 'people.audit', icon: mdiBookClockOutline, group: 'people', order: 30, needs: ['GET /api/audit'] },
  ],
}
