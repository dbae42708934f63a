import { beforeAll, describe, expect, it } from 'vitest'

import { restoreLanguage } from '../shell/i18n'
import { changes, groups, refusals, removal, resultText, secondsOf, shown, valueOf, type Setting } from './settings'

const setting = (name: string, value: string, source: Setting['source'] = 'DEFAULT'): Setting => ({
  name, value, source, variable: '', default: '', help: '', isSecret: false, isSet: value !== '', isUnreadable: false, needsRestart: false, updatedAt: null, updatedBy: null,
})

describe('durations', () => {
  it.each([['15m0s', 900], ['1h15m0s', 4500], ['90s', 90], ['1.5s', 1.5]])('%s', (text, seconds) => {
    expect(secondsOf(text)).toBe(seconds)
  })
  it.each(['', '15', 'soon', '5m x'])('%j is no duration', (text) => {
    expect(secondsOf(text)).toBeNaN()
  })
  it('are typed in minutes or seconds', () => {
    expect(shown('45m0s', 'minutes')).toBe('45')
    expect(shown('1m30s', 'seconds')).toBe('90')
    expect(valueOf(' 20 ', 'minutes')).toBe('20m')
    expect(valueOf('', 'minutes')).toBeNull()
  })
})

describe('changes', () => {
  const settings = [setting('payment_window', '15m0s'), setting('ticket_warn', '10m0s', 'PROCESS'), setting('vnpay_hash_secret', '')]
  const of = [
    { name: 'payment_window', kind: 'minutes' as const }, { name: 'ticket_warn', kind: 'minutes' as const },
    { name: 'vnpay_hash_secret', kind: 'secret' as const },
  ]
  it('are the fields that differ and can be changed', () => {
    expect(changes(settings, { payment_window: '15', ticket_warn: '3', vnpay_hash_secret: '' }, of)).toEqual([])
    expect(changes(settings, { payment_window: '20', ticket_warn: '10', vnpay_hash_secret: 'new' }, of)).toEqual([
      { name: 'payment_window', value: '20m' }, { name: 'vnpay_hash_secret', value: 'new' },
    ])
  })
  it('remove a value that was emptied', () => {
    expect(changes(settings, { payment_window: '' }, of)).toEqual([{ name: 'payment_window', value: null }])
  })
})

describe('the removal of a service', () => {
  const of = (name: string) => groups.find((g) => g.name === name)?.settings ?? []
  const vnpay = [setting('vnpay_tmn_code', 'QUANHOA1', 'STORED'), setting('vnpay_hash_secret', '', 'STORED'), setting('vnpay_pay_url', '')]
  it('removes all that is stored of a payment provider', () => {
    expect(removal(vnpay, of('vnpay'))).toEqual([{ name: 'vnpay_tmn_code', value: null }, { name: 'vnpay_hash_secret', value: null }])
  })
  it('keeps the sender of e-mails', () => {
    const mail = [setting('smtp_url', '', 'STORED'), setting('mail_from', 'hoa@quanhoa.vn', 'STORED')]
    expect(removal(mail, of('mail'))).toEqual([{ name: 'smtp_url', value: null }])
  })
  it('needs a stored secret', () => {
    expect(removal([setting('vnpay_hash_secret', '', 'PROCESS'), setting('vnpay_pay_url', 'https://pay.vn', 'STORED')], of('vnpay'))).toEqual([])
    expect(removal(vnpay, of('linepay'))).toEqual([])
  })
})

describe('a refusal', () => {
  beforeAll(restoreLanguage)
  it('has a text for each known code, and the server’s text for others', () => {
    expect(refusals({ errors: [
      { field: 'vnpay_tmn_code', code: 'site_code', message: 'vnpay: the site code is not 8 letters and digits' },
      { field: 'public_url', code: 'newer', message: 'must be even' },
    ] })).toEqual({ vnpay_tmn_code: 'Enter 8 letters and digits.', public_url: 'must be even' })
    expect(refusals({})).toEqual({})
  })
})

describe('the result of a test', () => {
  beforeAll(restoreLanguage)
  it.each([
    ['vnpay', 'ok', '91', 'Connected. VNPay accepts these credentials.'],
    ['linepay', 'unreachable', '', 'No connection to LINE Pay. Check the address and the server’s network.'],
    ['mail', 'ok', 'hoa@quanhoa.vn', 'Connected. A test message is on its way to hoa@quanhoa.vn.'],
    ['mail', 'credentials_refused', '535', 'The mail server refuses the user name or password.'],
    ['mail', 'message_refused', '550', 'The mail server refuses the message. Check the sender.'],
  ] as const)('for %s, %s', (subject, code, detail, text) => {
    expect(resultText(subject, { ok: code === 'ok', code, detail })).toBe(text)
  })
})
