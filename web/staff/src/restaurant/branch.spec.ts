import { describe, expect, it } from 'vitest'

import { bodyOf, emptyBranch, missingOf, zoneOf, type Country } from './branch'

const vn: Country = { code: 'VN', currency: 'VND', timezones: ['Asia/Ho_Chi_Minh'], bizDayStartHour: 4, locales: ['vi', 'en'] }
const us: Country = { ...vn, code: 'US', currency: 'USD', timezones: ['America/New_York', 'America/Chicago'] }
const full = { name: 'Quán Hoa', country: 'VN', timezone: '', locales: ['vi'], bizDayStartHour: 4 }

describe('a new branch', () => {
  it('starts with the browser’s country', () => {
    expect(emptyBranch(['en', 'zh-TW']).country).toBe('TW')
    expect(emptyBranch(['not a tag', 'en']).country).toBe('VN')
  })

  it('needs a name, a known country and a language', () => {
    expect(missingOf(full, vn)).toEqual([])
    expect(missingOf({ ...full, name: ' ' }, vn)).toEqual(['branch_name'])
    expect(missingOf({ ...full, locales: [] }, vn)).toEqual(['locales'])
    expect(missingOf(full, undefined)).toEqual(['country'])
  })

  it('starts with the browser’s time zone if the country has several', () => {
    expect(zoneOf(us, 'America/Chicago')).toBe('America/Chicago')
    expect(zoneOf(us, 'Asia/Ho_Chi_Minh')).toBe('')
    expect(zoneOf(vn, 'Asia/Ho_Chi_Minh')).toBe('')
  })

  it('needs a time zone if the country has several', () => {
    expect(missingOf(full, us)).toEqual(['timezone'])
    expect(missingOf({ ...full, timezone: 'America/Chicago' }, us)).toEqual([])
    expect(missingOf({ ...full, timezone: 'Asia/Taipei' }, us)).toEqual(['timezone'])
  })

  it('sends only the filled fields', () => {
    expect(bodyOf({ ...full, name: ' Quán Hoa ' }, 'x')).toEqual({
      name: 'Quán Hoa', country: 'VN', locales: ['vi'], bizDayStartHour: 4, clientTxnId: 'x',
    })
    expect(bodyOf({ ...full, timezone: 'Asia/Taipei' }, 'x')).toHaveProperty('timezone', 'Asia/Taipei')
  })
})
