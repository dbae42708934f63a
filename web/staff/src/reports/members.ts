import type { components } from '@shared/api/schema'
import { t } from '../shell/i18n'
import { dayText, type Shown } from './figure'
import { column, tile } from './reportFigures'

/** How many members are active. Dates after today have no figures yet. */
export function members(r: components['schemas']['ReportMembersView']): Shown {
  const last = r.days.at(-1)
  const names = ['daily', 'weekly', 'monthly', 'returning'] as const
  const lines = ['monthly', 'weekly', 'daily'] as const
  return {
    tiles: last ? names.map((name) => ({ ...tile(name, last[name]), ...(name === 'daily' ? { text: t('reports.active_on', { date: dayText(last.date) }) } : {}) })) : [],
    figures: [{
      title: t('reports.members'),
      chart: {
        kind: r.days.length > 1 ? 'lines' : 'bars', measure: 'number', names: r.days.map((d) => dayText(d.date)),
        series: lines.map((name) => ({ name: t(`reports.${name}`), values: r.days.map((d) => d[name]) })),
      },
      columns: [column('date', 'date'), ...names.map((name) => column(name))],
      rows: r.days.map((d) => [d.date, d.daily, d.weekly, d.monthly, d.returning]),
    }],
  }
}
