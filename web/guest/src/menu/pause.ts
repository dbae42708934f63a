import { t, type Key } from '@shared/i18n'

import type { Menu } from '../api/dto'

const codes: Record<string, Key> = {
  BUSY: 'closed.busy', STAFF: 'closed.shortStaffed', TECHNICAL: 'closed.technical', EVENT: 'closed.event',
}

/** Returns the reason of a pause: the restaurant's own text, or the text of a code; undefined without a reason. */
export function pauseText(pause: Menu['paused'] | undefined): string | undefined {
  const code = codes[pause?.reasonCode ?? '']
  return pause?.reason ?? (code && t(code))
}
