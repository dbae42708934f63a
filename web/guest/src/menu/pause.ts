import { clock, t, type Key } from '@shared/i18n'

import type { Menu } from '../api/dto'

const codes: Record<string, Key> = {
  BUSY: 'closed.busy', STAFF: 'closed.shortStaffed', TECHNICAL: 'closed.technical', EVENT: 'closed.event',
}

/** Returns the reason of a pause: the restaurant's own text, or the text of a code; undefined without a reason. */
export function pauseText(pause: Menu['paused'] | undefined): string | undefined {
  const code = codes[pause?.reasonCode ?? '']
  return pause?.reason ?? (code && t(code))
}

/** The reason and the end of a pause in one text, empty if neither is known. */
export function pauseDetails(pause: Menu['paused'] | undefined, timeZone = 'UTC'): string {
  const until = pause?.until ? t('closed.until', { time: clock(pause.until, timeZone) }) : ''
  return [pauseText(pause), until].filter(Boolean).join(' ')
}
