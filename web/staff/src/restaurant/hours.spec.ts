import { expect, it } from 'vitest'

import { draftOf, hoursOf, mistakes, nextPeriod, refusedField, sameAsDayBefore, sameOnAllDays, type Hours } from './hours'

const stored: Hours = {
  weekly: { fri: [{ from: '17:00', to: '01:00' }], sat: [{ from: '11:00', to: '14:30' }, { from: '17:00', to: '22:00' }] },
  exceptions: [{ date: '2026-01-01', periods: [] }, { date: '2026-12-24', periods: [], note: 'Christmas Eve' }],
}

it('edits and stores hours without past dates', () => {
  const d = draftOf(stored)
  expect(d.always).toBe(false)
  expect(d.week.mon).toEqual([])
  expect(hoursOf(d, '2026-11-23')).toEqual({ ...stored, exceptions: [{ date: '2026-12-24', periods: [], note: 'Christmas Eve' }] })
  expect(mistakes(d)).toEqual({})
})

it('keeps the exception of the day before, which may last past midnight', () => {
  const d = draftOf({ weekly: {}, exceptions: ['2026-12-30', '2026-12-31', '2027-01-01'].map((date) => ({ date, periods: [{ from: '18:00', to: '03:00' }] })) })
  expect(hoursOf(d, '2027-01-01').exceptions?.map((e) => e.date)).toEqual(['2026-12-31', '2027-01-01'])
})

it('proposes usual hours for a branch that is always open, but stores none until they are switched on', () => {
  const d = draftOf({ weekly: {}, exceptions: [] })
  expect(hoursOf(d, '2026-11-23')).toEqual({ weekly: {}, exceptions: [] })
  d.always = false
  expect(Object.keys(hoursOf(d, '2026-11-23').weekly)).toHaveLength(7)
})

it('copies days', () => {
  const d = draftOf(stored)
  d.week = sameAsDayBefore(sameAsDayBefore(d.week, 'sun'), 'mon')
  expect(d.week.mon).toEqual(stored.weekly.sat)
  d.week = sameOnAllDays(d.week, 'fri')
  expect(d.week.wed).toEqual([{ from: '17:00', to: '01:00' }])
  expect(d.week.wed?.[0]).not.toBe(d.week.thu?.[0])
})

it('returns the mistakes by field', () => {
  const d = draftOf(stored)
  d.week.mon = [{ from: '11:00', to: '' }]
  d.week.tue = [{ from: '11:00', to: '15:00' }, { from: '14:00', to: '16:00' }]
  d.week.sat = [{ from: '00:30', to: '02:00' }]
  d.exceptions = [
    { date: '', note: '', periods: [] }, { date: '2026-12-24', note: '', periods: [] },
    { date: '2026-12-24', note: '', periods: [{ from: '', to: '' }] },
  ]
  expect(mistakes(d)).toEqual({
    'weekly.mon': 'time', 'weekly.tue': 'overlap', 'weekly.fri': 'overlap', 'exceptions[0].date': 'date',
    'exceptions[2].date': 'twice', 'exceptions[2].periods': 'time',
  })
  for (const w of Object.keys(d.week)) d.week[w as 'mon'] = []
  expect(mistakes(d).weekly).toBe('empty')
})

it('finds the field that the server refuses', () => {
  expect(refusedField('openingHours.weekly.mon[1]')).toBe('weekly.mon')
  expect(refusedField('openingHours.exceptions[2].periods[0]')).toBe('exceptions[2].periods')
  expect(refusedField('openingHours.exceptions[2].date')).toBe('exceptions[2].date')
  expect(refusedField(undefined)).toBe('')
})

it('suggests supper after lunch', () => {
  expect(nextPeriod([])).toEqual({ from: '11:00', to: '22:00' })
  expect(nextPeriod([{ from: '11:00', to: '14:30' }])).toEqual({ from: '17:00', to: '22:00' })
  expect(nextPeriod([{ from: '17:00', to: '01:00' }])).toEqual({ from: '', to: '' })
})
