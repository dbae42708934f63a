import { t } from '@shared/i18n'

import type { ShownLine } from './line'

/** The reason why a line cannot be ordered as it is, with the remedy. */
export function obstacleText(line: ShownLine): string {
  if (!line.onMenu) return t('cart.vanished', { names: line.name })
  return line.gone ? t('cart.obstacleGone', { name: line.name }) : t('cart.obstacleFew', { name: line.name, left: line.available })
}
