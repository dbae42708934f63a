import { createRouter, createWebHistory } from 'vue-router'

import { useSession } from '../store/session'
import ClosedView from '../views/ClosedView.vue'
import HomeView from '../views/HomeView.vue'
import LandingView from '../views/LandingView.vue'
import OrderView from '../views/OrderView.vue'
import { fetchAhead, waitForParts } from './parts'
import { shop } from './shop'

// What everybody sees first comes with the entry, everything else before it is needed: see parts.ts.
export const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: '/', name: 'welcome', component: () => import('../views/WelcomeView.vue') },
    { path: '/m/:token', name: 'landing', component: LandingView, props: true },
    { path: '/app', name: 'home', component: HomeView, meta: { seated: true, ordering: true } },
    {
      path: '/app/order',
      name: 'order',
      component: OrderView,
      meta: { seated: true, ordering: true, menu: 'table' },
      children: [
        { path: 'item/:itemId', name: 'item', component: () => import('../views/ItemDetailView.vue'), props: true },
        { path: 'cart', name: 'cart', component: () => import('../components/CartDrawer.vue') },
      ],
    },
    {
      path: '/app/checkout',
      name: 'checkout',
      component: () => import('../views/PaymentSelectView.vue'),
      meta: { seated: true, ordering: true },
    },
    {
      path: '/app/orders/:id',
      name: 'confirm',
      component: () => import('../views/OrderConfirmView.vue'),
      props: true,
      meta: { seated: true, elsewhere: true },
    },
    { path: '/app/visit', name: 'visit', component: () => import('../views/VisitView.vue'), meta: { seated: true } },
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
