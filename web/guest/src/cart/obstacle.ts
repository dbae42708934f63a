import { t, type Key } from '@shared/i18n'
import type { ChoiceProblem } from '@shared/options'

import type { ShownLine } from './line'

/** The reason why a line cannot be ordered as it is, with the remedy. */
export function obstacleText(line: ShownLine): string {
  if (!line.onMenu) return t('cart.vanished', { names: line.name })
  if (line.problem && !line.gone) return t('cart.obstacleChoice', { name: line.name })
  return line.gone ? t('cart.obstacleGone', { name: line.name }) : t('cart.obstacleFew', { name: line.name, left: line.available })
}

const problems: Record<ChoiceProblem['code'], Key> = {
  gone: 'cart.optionsGone', soldOut: 'cart.optionsSoldOut', changed: 'cart.optionsChanged',
}

/** The reason why the options of a line have to be chosen again. */
export function problemText({ code, names }: ChoiceProblem): string {
  return names.length === 0 ? t('cart.optionsChangedSome') : t(problems[code], { names: names.join(', ') })
}
