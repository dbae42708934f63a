import { t, type Key } from '@shared/i18n'

import type { Menu } from '../api/dto'

const codes: Record<string, Key> = {
  BUSY: 'closed.busy', STAFF: 'closed.shortStaffed', TECHNICAL: 'closed.technical', EVENT: 'closed.event',
}

/** What the house has said of a pause: in its own words, or by a code; undefined where it has said nothing. */
export function whyPaused(pause: Menu['paused'] | undefined): string | undefined {
  const code = codes[pause?.reasonCode ?? '']
  return pause?.reason ?? (code && t(code))
}
