import { mdiAccountGroup, mdiBellRing, mdiCancel, mdiCashClock, mdiCheckCircleOutline, mdiCircleOutline, mdiClockAlertOutline, mdiRectangleOutline, mdiSquareOutline } from '@mdi/js'

import type { State } from './floor'
import type { Shape } from './plan'

/** The colour and icon of each state. The colours are those of Vuetify's theme. */
export const looks: Readonly<Record<State, { colour: string; icon: string }>> = {
  calling: { colour: 'error', icon: mdiBellRing },
  late: { colour: 'error', icon: mdiClockAlertOutline },
  unpaid: { colour: 'warning', icon: mdiCashClock },
  seated: { colour: 'info', icon: mdiAccountGroup },
  free: { colour: 'success', icon: mdiCheckCircleOutline },
  unused: { colour: 'secondary', icon: mdiCancel },
}

export const shapeIcons: Readonly<Record<Shape, string>> = {
  SQUARE: mdiSquareOutline, ROUND: mdiCircleOutline, WIDE: mdiRectangleOutline,
}
