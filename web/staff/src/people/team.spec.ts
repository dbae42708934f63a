import { describe, expect, it } from 'vitest'

import { Fault } from '@shared/api/fault'
import { isValidPin } from '../shell/pin'
import { addRow, isSendable, newRow, proposePin, usernameFor, type NewAccount } from './team'

const lan = () => Object.assign(newRow('KITCHEN', '1'), { name: ' Nguyễn Thị Lan Đào ', pin: '2580' })

it('proposes PINs that the server accepts', () => {
  for (let i = 0; i < 200; i++) expect(proposePin()).toSatisfy(isValidPin)
})

it.each([
  ['Nguyễn Thị Lan Đào', /^nguyen\.thi\.lan\.dao-\d{8}$/],
  ['王小明', /^staff-\d{8}$/],
  ['A very long name that goes on and on', /^a\.very\.long\.name\.tha-\d{8}$/],
])('makes a username for %s', (name, want) => {
  expect(usernameFor(name)).toMatch(want)
})

describe('adding a row', () => {
  it('sends the row once', async () => {
    const r = lan()
    const sent: NewAccount[] = []
    await addRow(r, '5', (body) => Promise.resolve(sent.push(body)))
    expect(r.state).toBe('done')
    expect(sent).toEqual([{ firstName: 'Nguyễn Thị Lan Đào', username: expect.any(String) as string, roleId: '5', branches: ['1'], pin: '2580' }])
  })

  it('keeps a refused row open, with its reason', async () => {
    const r = lan()
    const refused = new Fault('pin_unfit', 422)
    await addRow(r, '5', () => Promise.reject(refused))
    expect([r.state, r.problem, r.sent]).toEqual(['open', refused, undefined])
    expect(isSendable(r)).toBe(true)
  })

  it('repeats a request whose answer was lost, and counts its own taken username as success', async () => {
    const r = lan()
    const sent: NewAccount[] = []
    const failing = (e: Fault) => (body: NewAccount) => {
      sent.push(body)
      return Promise.reject(e)
    }
    await addRow(r, '5', failing(new Fault('offline')))
    expect(r.state).toBe('unknown')
    await addRow(r, '5', failing(new Fault('username_taken', 409)))
    expect(r.state).toBe('done')
    expect(sent[1]).toEqual(sent[0])
  })

  it('does not count a username taken by someone else as success', async () => {
    const r = lan()
    await addRow(r, '5', () => Promise.reject(new Fault('username_taken', 409)))
    expect(r.state).toBe('open')
  })
})
