import { createRouter, createWebHistory, START_LOCATION } from 'vue-router'

import { waitForParts } from '@shared/parts'
import { nextTask } from '@shared/task'

import OrderView from '../menu/MenuView.vue'
import ClosedView from '../table/ClosedView.vue'
import LandingView from '../table/LandingView.vue'
import { whenReachable } from '../shell/connection'
import { useSession } from '../table/session'
import { fetchAhead } from './parts'
import { shop } from './shop'

// The entry file contains the first screens. The others are loaded in advance, see parts.ts.
export const router = createRouter({
  history: createWebHistory(),
  routes: [
    // The server serves its public page at /; inside the app, / is this page.
    { path: '/', alias: '/app/welcome', name: 'welcome', component: () => import('../table/WelcomeView.vue') },
    { path: '/m/:token', name: 'landing', component: LandingView, props: true },
    { path: '/app', redirect: { name: 'order' } },
    {
      path: '/app/order',
      name: 'order',
      component: OrderView,
      meta: { seated: true, ordering: true, menu: 'table' },
      children: [
        { path: 'item/:itemId', name: 'item', component: () => import('../menu/ItemDetailView.vue'), props: (to) => ({ ...to.params, line: to.query.line }) },
        { path: 'wishes', name: 'wishes', component: () => import('../menu/WishesView.vue'), props: { below: 'order' } },
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
    // A new page and the landing page are at the top. Scrolling would only force a layout.
    if (from === START_LOCATION || from.name === 'landing') return false
    // Opening or closing a dialog over the menu keeps its scroll position.
    return to.meta.menu && to.meta.menu === from.meta.menu ? false : { top: 0 }
  },
})

// The first screen is rendered in a task of its own, after the bars around it.
router.beforeEach((_, from) => (from === START_LOCATION ? nextTask() : undefined))

router.beforeEach((to) => {
  if (!to.meta.seated || useSession().draft) return true
  return { name: 'closed', params: { reason: to.meta.elsewhere ? 'elsewhere' : 'scan' } }
})

waitForParts(router, whenReachable)
fetchAhead(router)
