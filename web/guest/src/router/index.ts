import { createRouter, createWebHistory } from 'vue-router'

import OrderView from '../menu/MenuView.vue'
import ClosedView from '../table/ClosedView.vue'
import LandingView from '../table/LandingView.vue'
import { useSession } from '../table/session'
import { fetchAhead, waitForParts } from './parts'
import { shop } from './shop'

// The first screens are part of the entry file. The others are loaded before they are needed: see parts.ts.
export const router = createRouter({
  history: createWebHistory(),
  routes: [
    // The server answers / with the public page; in the app it is this one.
    { path: '/', alias: '/app/welcome', name: 'welcome', component: () => import('../table/WelcomeView.vue') },
    { path: '/m/:token', name: 'landing', component: LandingView, props: true },
    { path: '/app', redirect: { name: 'order' } },
    {
      path: '/app/order',
      name: 'order',
      component: OrderView,
      meta: { seated: true, ordering: true, menu: 'table' },
      children: [
        { path: 'item/:itemId', name: 'item', component: () => import('../menu/ItemDetailView.vue'), props: true },
        { path: 'cart', name: 'cart', component: () => import('../cart/CartDrawer.vue') },
        { path: 'call', name: 'call', component: () => import('../table/CallView.vue') },
      ],
    },
    { path: '/app/checkout', redirect: { name: 'cart' } },
    {
      path: '/app/orders/:id',
      name: 'confirm',
      component: () => import('../order/OrderConfirmView.vue'),
      props: true,
      meta: { seated: true, elsewhere: true },
    },
    { path: '/app/visit', name: 'visit', component: () => import('../table/VisitView.vue'), meta: { seated: true } },
    { path: '/app/closed/:reason?', name: 'closed', component: ClosedView, props: true },
    ...shop,
    { path: '/:rest(.*)*', redirect: '/' },
  ],
  scrollBehavior(to, from, saved) {
    if (saved) return saved
    // A dialog over the menu leaves the menu where it is.
    return to.meta.menu && to.meta.menu === from.meta.menu ? false : { top: 0 }
  },
})

router.beforeEach((to) => {
  if (!to.meta.seated || useSession().draft) return true
  return { name: 'closed', params: { reason: to.meta.elsewhere ? 'elsewhere' : 'scan' } }
})

waitForParts(router)
fetchAhead(router)
