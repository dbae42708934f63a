import { expect, test } from 'vitest'

import { daysOf, everyone, fits, halfDone, progress, queryOf, segmentOf, textsOf } from './mailings'

test('a group without conditions has an empty query', () => {
  expect(queryOf(everyone())).toEqual({})
  expect(segmentOf(everyone())).toEqual({})
})

test('the conditions of a group are trimmed', () => {
  const g = { province: ' ', city: ' Huế ', registered: 'no' as const, days: '30' }
  expect(queryOf(g)).toEqual({ city: 'Huế', registered: 'no', inactiveDays: 30 })
  expect(segmentOf(g)).toEqual({ city: 'Huế', registered: false, inactiveDays: 30 })
})

test('days are a whole number from 1 to 400', () => {
  expect(['', ' 1 ', '400', '0', '401', '-1', '1.5', 'x'].map((days) => daysOf({ ...everyone(), days }))).toEqual(
    [0, 1, 400, undefined, undefined, undefined, undefined, undefined],
  )
})

test('only whole texts are sent', () => {
  const vi = { locale: 'vi' as const, subject: ' Món mới ', text: 'Mời bạn.\n' }
  const en = { locale: 'en' as const, subject: 'New', text: ' ' }
  expect(textsOf([vi, en])).toEqual([{ locale: 'vi', subject: 'Món mới', text: 'Mời bạn.' }])
  expect([vi, en, { ...en, subject: '' }].map(halfDone)).toEqual([false, true, false])
})

test('long paragraphs do not fit', () => {
  const of = (text: string) => fits({ locale: 'vi', subject: '', text })
  expect([of('đ'.repeat(1000)), of('đ'.repeat(1001)), of('đ\n'.repeat(2500)), of('đ\n'.repeat(2501))]).toEqual([true, false, true, false])
})

test('a mailing is done when all its e-mails have a result', () => {
  const of = (sent: number, failed: number) => progress({ matched: 10, excluded: 2, sent, failed, skipped: 1 })
  expect([of(0, 0), of(3, 0), of(6, 1)]).toEqual([13, 50, 100])
  expect(progress({ matched: 2, excluded: 2, sent: 0, failed: 0, skipped: 0 })).toBe(100)
})
