import { t } from '@shared/i18n'

import type { ShownLine } from './line'

/** Why a line cannot be ordered as it is, and what to do about it. */
export function obstacleText(line: ShownLine): string {
  if (!line.onMenu) return t('cart.vanished', { names: line.name })
  return line.gone ? t('cart.obstacleGone', { name: line.name }) : t('cart.obstacleFew', { name: line.name, left: line.available })
}
