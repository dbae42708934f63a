import { expect, it } from 'vitest'

import { scheduleDraft, scheduleMistakes, scheduleOf, weeklyText, type Schedule } from './schedule'

const period = { from: '11:00', to: '14:00' }
const lunch: Schedule = {
  weekly: { mon: [period], tue: [period], wed: [period], sat: [{ from: '22:00', to: '02:00' }] },
  fromDate: '2026-12-01', throughDate: '', kinds: ['DINE_IN'], priority: 0,
}
const always: Schedule = { weekly: {}, fromDate: '', throughDate: '', kinds: [], priority: 0 }

it('edits and stores a schedule', () => {
  expect(scheduleOf(scheduleDraft(lunch))).toEqual(lunch)
  expect(scheduleOf(scheduleDraft(always))).toEqual(always)
})

it('proposes the hours of lunch once hours are switched on', () => {
  const d = scheduleDraft(always)
  d.always = false
  expect(scheduleOf(d).weekly).toEqual(Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((w) => [w, [period]])))
})

it('returns the mistakes by field', () => {
  const d = scheduleDraft(lunch)
  expect(scheduleMistakes(d)).toEqual({})
  d.through = '2026-11-30'
  d.week.tue = [{ from: '11:00', to: '' }]
  expect(scheduleMistakes(d)).toEqual({ 'weekly.tue': 'time', throughDate: 'order' })
})

it('names days with the same hours together', () => {
  expect(weeklyText(lunch.weekly, 'en')).toBe('Mon–Wed 11:00–14:00 · Sat 22:00–02:00')
  expect(weeklyText({ sun: [period, { from: '17:00', to: '22:00' }] }, 'en')).toBe('Sun 11:00–14:00, 17:00–22:00')
  expect(weeklyText({}, 'en')).toBe('')
})
