import { mdiBookOpenVariant, mdiNoodles, mdiTune } from '@mdi/js'

import type { Feature } from '../app'

export const feature: Feature = {
  routes: [
    {
      path: '/dishes', name: 'dishes', component: () => import('./DishesView.vue'),
      meta: { title: 'menu.dishes', needs: ['GET /api/dishes', 'GET /api/categories'] },
    },
    {
      path: '/categories', name: 'categories', component: () => import('./CategoriesView.vue'),
      meta: { entry: 'dishes', title: 'menu.categories', needs: ['GET /api/categories'] },
    },
    {
      path: '/option-groups', name: 'option-groups', component: () => import('./OptionGroupsView.vue'),
      meta: { title: 'menu.options', needs: ['GET /api/option-groups'] },
    },
    {
      path: '/menus', name: 'menus', component: () => import('./MenusView.vue'),
      meta: { title: 'menu.menus', needs: ['GET /api/menus'] },
    },
    {
      path: '/menu-versions/:id', name: 'version', component: () => import('./VersionView.vue'), props: true,
      meta: { entry: 'menus', title: 'menu.version_title', needs: ['GET /api/menu-versions/{id}'] },
    },
    {
      path: '/menu-versions/:id/prices', name: 'prices', component: () => import('./PricesView.vue'), props: true,
      meta: { entry: 'menus', title: 'menu.prices', needs: ['GET /api/menu-versions/{id}', 'PUT /api/branches/{id}/menu/dishes'] },
    },
    {
      path: '/menu-versions/:id/options', name: 'version-options', component: () => import('./VersionOptionsView.vue'), props: true,
      meta: { entry: 'menus', title: 'menu.version_options', needs: ['GET /api/menu-versions/{id}', 'GET /api/option-groups'] },
    },
    {
      path: '/menu-versions/:id/preview', name: 'preview', component: () => import('./PreviewView.vue'), props: true,
      meta: { entry: 'menus', title: 'menu.preview', needs: ['GET /api/menu-versions/{id}/preview'] },
    },
  ],
  nav: [
    {
      to: 'menus', text: 'menu.menus', icon: mdiBookOpenVariant, group: 'restaurant', order: 10,
      needs: ['GET /api/menus', 'GET /api/menu-versions/{id}'],
    },
    {
      to: 'dishes', text: 'menu.dishes', icon: mdiNoodles, group: 'restaurant', order: 20,
      needs: ['GET /api/dishes', 'GET /api/categories'],
    },
    { to: 'option-groups', text: 'menu.options', icon: mdiTune, group: 'restaurant', order: 25, needs: ['GET /api/option-groups'] },
  ],
}
