import { openingOf } from '@shared/hours'
import { t } from '@shared/i18n'

import type { Menu } from '../api/dto'

export { loadAtChange } from '@shared/hours'

/** The text about a menu without dishes, with the time of the next menu. */
export function noDishesText(menu: Menu | undefined, timeZone?: string, now?: number): string {
  if (!menu?.menuChange) return t('order.noMenu')
  const { time, day } = openingOf(menu.menuChange, timeZone, now)
  return day ? t('order.laterOn', { time, day }) : t('order.laterAt', { time })
}

/** The text about closed ordering with the next opening; undefined while it is open. */
export function closedText(closed: Menu['closed'] | undefined, timeZone?: string, now?: number): string | undefined {
  if (!closed) return undefined
  if (!closed.opensAt) return t('hours.closed')
  const { time, day } = openingOf(closed.opensAt, timeZone, now)
  return day ? t('hours.opensOn', { time, day }) : t('hours.opensAt', { time })
}
