import type { RouteLocationNormalizedLoaded } from 'vue-router'

/**
 * Returns the key of the page that a route shows. Each order has a page of its own, with its own stream and actions. Other
 * pages have the same key, so that they keep their state when their address changes, such as the menu below its dialogs.
 */
export function pageKey({ params }: Pick<RouteLocationNormalizedLoaded, 'params'>): string {
  return typeof params.id === 'string' ? params.id : ''
}
