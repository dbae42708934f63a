import type { components } from '@shared/api/schema'

type Schemas = components['schemas']

export type Mailing = Schemas['Mailing']
export type Counts = Schemas['MailingSegmentCounts']
export type Segment = Schemas['MailingSegment']
export type Text = Schemas['MailingText']

/** The limits of the server. */
export const limits = { subject: 150, text: 5000, line: 1000, recipients: 10_000, days: 400 } as const

/** The conditions of a group as they are typed. */
export interface Group { province: string; city: string; registered: 'yes' | 'no' | null; days: string }

export const everyone = (): Group => ({ province: '', city: '', registered: null, days: '' })

/** The days without activity; undefined if the text is not a number that the server accepts. */
export function daysOf(g: Group): number | undefined {
  const text = g.days.trim()
  if (text === '') return 0
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= limits.days ? Number(text) : undefined
}

/** A group as the query of a request. */
export function queryOf(g: Group) {
  const days = daysOf(g) ?? 0
  return {
    ...(g.province.trim() && { province: g.province.trim() }), ...(g.city.trim() && { city: g.city.trim() }),
    ...(g.registered && { registered: g.registered }), ...(days > 0 && { inactiveDays: days }),
  }
}

/** A group as part of a body. */
export function segmentOf(g: Group): Segment {
  const { registered, ...rest } = queryOf(g)
  return { ...rest, ...(registered && { registered: registered === 'yes' }) }
}

/** The texts to send: those with a subject and a text. The language of the first is for members without one. */
export function textsOf(all: readonly Text[]): Text[] {
  return all.map((x) => ({ ...x, subject: x.subject.trim(), text: x.text.trim() })).filter((x) => x.subject && x.text)
}

/** Whether a text has a subject without a text, or the reverse. */
export function halfDone(x: Text): boolean {
  return (x.subject.trim() === '') !== (x.text.trim() === '')
}

/** Whether all paragraphs are short enough for the server. */
export function fits(x: Text): boolean {
  return [...x.text].length <= limits.text && x.text.split('\n').every((line) => [...line].length <= limits.line)
}

/** The share of a mailing that is done, in percent. */
export function progress(m: Pick<Mailing, 'matched' | 'excluded' | 'sent' | 'failed' | 'skipped'>): number {
  const all = m.matched - m.excluded
  return all > 0 ? Math.min(100, Math.round((100 * (m.sent + m.failed + m.skipped)) / all)) : 100
}
