import { describe, expect, it } from 'vitest'

import type { Branch } from '../shell/branch'
import { bodyOf, branchChanges, emptyBranch, missingOf, zoneOf, type BranchFields, type Country } from './branch'

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

describe('an edited branch', () => {
  const form: BranchFields = {
    name: 'Quán Hoa', locales: ['vi', 'en'], bizDayStartHour: 4, isOpen: true, sharedCart: false, country: '', currency: 'VND',
    timezone: 'Asia/Ho_Chi_Minh', mailFrom: '',
  }
  const opened = { ...form, id: '1', country: null, mailFrom: null } as Branch

  it('sends only the changed fields', () => {
    expect(branchChanges({ ...form, name: ' Quán Hoa ' }, opened)).toEqual({})
    expect(branchChanges({ ...form, locales: ['vi', 'en', 'ja'] }, opened)).toEqual({ locales: ['vi', 'en', 'ja'] })
    expect(branchChanges({ ...form, locales: ['en', 'vi'] }, opened)).toEqual({ locales: ['en', 'vi'] }) // the first one counts
    expect(branchChanges({ ...form, isOpen: false, sharedCart: true, bizDayStartHour: 0 }, opened))
      .toEqual({ isOpen: false, sharedCart: true, bizDayStartHour: 0 })
    expect(branchChanges({ ...form, country: 'VN', currency: 'TWD', timezone: 'Asia/Taipei', mailFrom: ' a@b.example ' }, opened))
      .toEqual({ country: 'VN', currency: 'TWD', timezone: 'Asia/Taipei', mailFrom: 'a@b.example' })
  })

  it('can lose its sender', () => {
    expect(branchChanges(form, { ...opened, mailFrom: 'a@b.example' })).toEqual({ mailFrom: '' })
  })
})
