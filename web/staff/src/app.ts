// The features of the console.
//
// Each folder beside this file is a feature. Its file `feature.ts` exports the routes and the navigation entries as
// `feature`; its files `texts/{en,vi,zh-Hant}.json` contain the texts, which t('<folder>.<name>') returns. A new folder
// needs no registration. Within it:
//
//   feature.ts      export const feature: Feature = { routes: [...], nav: [...] }; views are loaded when needed
//   XyzView.vue     <PageFrame :title :asked="query">: heading, actions, and the states for loading and errors
//   useAsk, useDo   (shell/query) query and mutation, typed by the API: useAsk('tables', () => api.GET('/api/tables', ...))
//   can             (shell/session) whether the user may use a route: v-if="can('POST /api/visits/{id}/close')"
//   confirm, notify (shell/notices) a confirmation before an action, a message after it
//   money, clock    (shell/i18n); saveFile, fetchFile (shell/files)
//
// A navigation entry or route is shown only to users who may use the API routes in its `needs`.
import type { RouteRecordRaw } from 'vue-router'

import type { Route } from './shell/session'

export interface NavEntry {
  to: string // the name of a route
  text: string // the key of a text
  icon: string // a path of @mdi/js
  group: 'floor' | 'restaurant' | 'figures' | 'people' | 'advanced' // `advanced` is collapsed until the user opens it
  order: number // within the group
  needs: Route[]
}

export interface Feature {
  routes: RouteRecordRaw[] // their paths are relative to /console/
  nav?: NavEntry[]
}

declare module 'vue-router' {
  interface RouteMeta {
    entry?: string // the navigation entry of a page that has none of its own
    title?: string // the key of a text, for the browser's tab
    needs?: Route[]
    open?: boolean // accessible without a login
    bare?: boolean // without navigation around it
    plain?: boolean // plain HTML, shown without Vuetify
    retired?: boolean // shows past data, so it can also show retired branches
  }
}

const found = import.meta.glob<Feature>('./*/feature.ts', { eager: true, import: 'feature' })

export const features = Object.values(found)

const groups: NavEntry['group'][] = ['floor', 'restaurant', 'figures', 'people', 'advanced']

/** All entries of the navigation, in the order in which they are shown. */
export const navigation = features
  .flatMap((f) => f.nav ?? [])
  .sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.order - b.order)
