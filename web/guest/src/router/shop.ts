import type { NavigationGuard, RouteComponent, RouteRecordRaw } from 'vue-router'

// The members' pages. They and their texts are not loaded with the guests' first view.
type Page = () => Promise<{ default: RouteComponent }>

/** A page that is shown once its texts are loaded. */
function page(load: Page): Page {
  return async () => {
    const [part] = await Promise.all([load(), import('../member/texts').then((texts) => texts.ready())])
    return part
  }
}

/** Redirects to the login, and back afterwards. */
const known: NavigationGuard = async (to) => {
  const { isKept, useAccount } = await import('../member/account')
  const account = useAccount()
  await account.restore()
  // A login that cannot be checked now counts as valid: the page reports that the server is unreachable.
  return account.user || isKept() ? true : { name: 'login', query: { to: to.path } }
}

const open = { shop: true }
const memberPage = { meta: { shop: true, member: true }, beforeEnter: known }

export const shop: RouteRecordRaw[] = [
  {
    path: '/shop',
    name: 'shop',
    component: page(() => import('../member/views/MenuView.vue')),
    meta: { shop: true, menu: 'home' },
    children: [
      { path: 'dish/:dishId', name: 'shop-dish', component: page(() => import('../member/views/DishView.vue')), props: (to) => ({ ...to.params, line: to.query.line }) },
      { path: 'wishes', name: 'shop-wishes', component: () => import('../menu/WishesView.vue'), props: { below: 'shop' } },
    ],
  },
  { path: '/shop/cart', name: 'basket', component: page(() => import('../member/views/BasketView.vue')), ...memberPage },
  { path: '/shop/checkout', name: 'shop-checkout', component: page(() => import('../member/views/CheckoutView.vue')), ...memberPage },
  { path: '/shop/orders', name: 'my-orders', component: page(() => import('../member/views/OrdersView.vue')), ...memberPage },
  { path: '/shop/orders/:id', name: 'my-order', component: page(() => import('../member/views/MyOrderView.vue')), props: true, ...memberPage },
  { path: '/shop/account', name: 'account', component: page(() => import('../member/views/AccountView.vue')), ...memberPage },
  { path: '/shop/login', name: 'login', component: page(() => import('../member/views/LoginView.vue')), meta: open },
  { path: '/shop/register', name: 'register', component: page(() => import('../member/views/RegisterView.vue')), meta: open },
  { path: '/shop/verify', name: 'verify', component: page(() => import('../member/views/VerifyView.vue')), meta: open },
  { path: '/shop/forgotten', name: 'forgotten', component: page(() => import('../member/views/ForgottenView.vue')), meta: open },
  { path: '/shop/google', name: 'google', component: page(() => import('../member/views/GoogleView.vue')), meta: open },
  { path: '/shop/unsubscribe', name: 'unsubscribe', component: page(() => import('../member/views/UnsubscribeView.vue')), meta: open },
  { path: '/shop/:rest(.*)*', redirect: '/shop' },
]
