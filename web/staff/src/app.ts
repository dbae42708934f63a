// What the console is made of.
//
// Each folder beside this file is a feature: it is found by its file `feature.ts`, which exports its routes and what
// leads to them as `feature`, and by `texts/{en,vi,zh-Hant}.json`, whose texts are asked for as t('<folder>.<name>').
// Nothing else has to be told about a new folder. Within it:
//
//   feature.ts      export const feature: Feature = { routes: [...], nav: [...] }; views are loaded when needed
//   XyzView.vue     <PageFrame :title :asked="query">: heading, actions, and what is shown while loading and on errors
//   useAsk, useDo   (shell/query) ask and change, typed by the API: useAsk('tables', () => api.GET('/api/tables', ...))
//   can             (shell/session) whether the person may use a route: v-if="can('POST /api/visits/{id}/close')"
//   confirm, notify (shell/notices) a question before, a word afterwards
//   money, clock    (shell/i18n); saveCSV, saveFile, fetchFile (shell/files)
//
// A nav entry and a route are shown to those who may use the routes of the API that they name in `needs`.
import type { RouteRecordRaw } from 'vue-router'

import type { Route } from './shell/session'

export interface NavEntry {
  to: string // the name of a route
  text: string // the name of a text
  icon: string // a path of @mdi/js
  group: 'floor' | 'restaurant' | 'figures' | 'people' | 'advanced' // the last is closed until it is asked for
  order: number // within the group
  needs: Route[]
}

export interface Feature {
  routes: RouteRecordRaw[] // their paths are relative to /console/
  nav?: NavEntry[]
}

declare module 'vue-router' {
  interface RouteMeta {
    title?: string // the name of a text, for the browser's tab
    needs?: Route[]
    open?: boolean // for people who are not logged in
    bare?: boolean // without navigation around it
    retired?: boolean // about what has been, so it also shows branches that are no longer in use
  }
}

const found = import.meta.glob<Feature>('./*/feature.ts', { eager: true, import: 'feature' })

export const features = Object.values(found)

const groups: NavEntry['group'][] = ['floor', 'restaurant', 'figures', 'people', 'advanced']

/** All entries of the navigation, in the order in which they are shown. */
export const navigation = features
  .flatMap((f) => f.nav ?? [])
  .sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.order - b.order)
