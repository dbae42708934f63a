import { createRouter, createWebHistory, type RouteLocationNormalized } from 'vue-router'

import { features, navigation } from './app'
import { allowRetired } from './shell/branch'
import { t } from './shell/i18n'
import { can, onLeave, person, resume } from './shell/session'
import LoginView from './shell/LoginView.vue'
import MessageView from './shell/MessageView.vue'

export const router = createRouter({
  history: createWebHistory('/console/'),
  routes: [
    { path: '/login', name: 'login', component: LoginView, meta: { open: true, bare: true, title: 'shell.login' } },
    { path: '/', name: 'home', component: MessageView, props: { kind: 'nothing' } },
    { path: '/forbidden', name: 'forbidden', component: MessageView, props: { kind: 'forbidden' } },
    ...features.flatMap((f) => f.routes),
    { path: '/:rest(.*)*', name: 'missing', component: MessageView, props: { kind: 'missing' } },
  ],
  scrollBehavior: (_to, _from, saved) => saved ?? { top: 0 },
})

/** The way to the login, and back afterwards. */
function toLogin(from: RouteLocationNormalized) {
  return { name: 'login', query: from.name === 'home' ? {} : { back: from.fullPath } }
}

router.beforeEach(async (to) => {
  if (to.meta.open) return true
  // While the server cannot be reached, the login waits for it with the session that is kept.
  if (!person.value && !(await resume().catch(() => false))) return toLogin(to)
  if (to.name === 'home') {
    const first = navigation.find((n) => can(...n.needs))
    return first ? { name: first.to } : true
  }
  return can(...(to.meta.needs ?? [])) || { name: 'forbidden' }
})

router.afterEach((to) => {
  allowRetired(to.meta.retired === true)
  document.title = to.meta.title ? `${t(to.meta.title)} · Comanda` : 'Comanda'
})

/** After a release the parts of the former one are gone; the page of the new one knows where its own are. */
router.onError((_, to) => {
  if (navigator.onLine) location.assign(router.resolve(to).href)
})

// After a change of the user the page stays, if the new user has access.
onLeave(() => {
  const here = router.currentRoute.value
  if (here.meta.open) return
  const barred = person.value && !can(...(here.meta.needs ?? []))
  void router.replace(barred ? { name: 'home' } : { path: here.path, query: here.query, force: true })
})
