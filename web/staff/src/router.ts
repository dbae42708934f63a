import { nextTick } from 'vue'
import { createRouter, createWebHistory, type RouteLocationNormalized } from 'vue-router'

import { waitForParts } from '@shared/parts'
import { untilReachable } from '@shared/reachable'

import { features, navigation } from './app'
import { focusContent } from './shell/focus'
import { loadFrame } from './shell/frame'
import { t } from './shell/i18n'
import { can, keepsSession, onLeave, person, resume } from './shell/session'
import LoginView from './shell/LoginView.vue'

const MessageView = () => import('./shell/MessageView.vue')

export const router = createRouter({
  history: createWebHistory('/console/'),
  routes: [
    { path: '/login', name: 'login', component: LoginView, meta: { open: true, plain: true, title: 'shell.login' } },
    { path: '/', name: 'home', component: MessageView, props: { kind: 'nothing' } },
    { path: '/forbidden', name: 'forbidden', component: MessageView, props: { kind: 'forbidden' } },
    ...features.flatMap((f) => f.routes),
    { path: '/:rest(.*)*', name: 'missing', component: MessageView, props: { kind: 'missing' } },
  ],
  scrollBehavior: (_to, _from, saved) => saved ?? { top: 0 },
})

/** The location of the login page, which leads back afterwards. */
function toLogin(from: RouteLocationNormalized) {
  return { name: 'login', query: from.name === 'home' ? {} : { back: from.fullPath } }
}

/** Starts loading a page's files while the session is restored. The navigation itself handles a failure. */
function preload(to: RouteLocationNormalized): void {
  void loadFrame().catch(() => undefined)
  for (const { components } of to.matched) {
    const load = components?.default
    if (typeof load === 'function') void (load as () => Promise<unknown>)().catch(() => undefined)
  }
}

router.beforeEach(async (to) => {
  if (to.meta.open) return true
  if (!person.value && keepsSession()) preload(to)
  // While the server cannot be reached, the login page waits for it with the stored session.
  if (!person.value && !(await resume().catch(() => false))) return toLogin(to)
  if (to.name === 'home') {
    const first = navigation.find((n) => can(...n.needs))
    return first ? { name: first.to } : true
  }
  return can(...(to.meta.needs ?? [])) || { name: 'forbidden' }
})

router.beforeResolve(async (to) => {
  if (!to.meta.plain) await loadFrame()
})

router.afterEach((to) => {
  document.title = to.meta.title ? `${t(to.meta.title)} · Comanda` : 'Comanda'
})

// The link that opened a page is often gone, and keyboards would start again at the top of the document.
router.afterEach(async (to, from, failure) => {
  if (failure || from.name === undefined || from.name === to.name) return
  await nextTick()
  if (!document.getElementById('main')?.contains(document.activeElement)) focusContent()
})

waitForParts(router, () => untilReachable('/console/'))

// After a change of the user, the page stays if the new user has access.
onLeave(() => {
  const here = router.currentRoute.value
  if (here.meta.open) return
  const barred = person.value && !can(...(here.meta.needs ?? []))
  void router.replace(barred ? { name: 'home' } : { path: here.path, query: here.query, force: true })
})
