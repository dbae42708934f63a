import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, ref, type EffectScope } from 'vue'

import { addedDish, openedDish, openedPage, sawDish, searchedFor, useViews, type Views } from './views'

let scope: EffectScope
let sent: Views[]
const visit = ref('')
let visits = 0

beforeEach(() => {
  vi.useFakeTimers()
  sent = []
  visit.value = `visit ${String(visits++)}` // the module remembers the dishes of a menu
  scope = effectScope()
  scope.run(() => {
    useViews(() => visit.value, (views) => {
      sent.push(views)
      return Promise.reject(new Error('offline')) // nothing depends on the answer
    })
  })
})

afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})

describe('views', () => {
  it('are sent together, a few seconds after the first one', () => {
    vi.advanceTimersByTime(60_000)
    expect(sent).toEqual([])
    openedPage('menu')
    sawDish('4')
    vi.advanceTimersByTime(3000)
    sawDish('5')
    addedDish('5')
    vi.advanceTimersByTime(1999)
    expect(sent).toEqual([])
    vi.advanceTimersByTime(1)
    expect(sent).toEqual([{ viewed: ['4', '5'], added: ['5'], opened: [], pages: ['menu'], searches: [] }])
    vi.advanceTimersByTime(60_000)
    expect(sent).toHaveLength(1)
  })

  it('count a dish once per visit', () => {
    sawDish('4')
    sawDish('4')
    vi.advanceTimersByTime(5000)
    sawDish('4')
    vi.advanceTimersByTime(5000)
    expect(sent).toEqual([{ viewed: ['4'], added: [], opened: [], pages: [], searches: [] }])
    visit.value = 'another table'
    return Promise.resolve().then(() => {
      sawDish('4')
      vi.advanceTimersByTime(5000)
      expect(sent).toHaveLength(2)
    })
  })

  it('name each dish whose sheet was opened, also again', () => {
    openedDish('4')
    openedDish('4')
    vi.advanceTimersByTime(5000)
    openedDish('4')
    vi.advanceTimersByTime(5000)
    expect(sent).toEqual([
      { viewed: ['4'], added: [], opened: ['4'], pages: ['dish', 'dish'], searches: [] }, { viewed: [], added: [], opened: ['4'], pages: ['dish'], searches: [] },
    ])
  })

  it('are sent at once when a report is full, and when the menu is left', () => {
    for (let n = 0; n < 130; n++) sawDish(String(n))
    expect(sent.map((v) => v.viewed.length)).toEqual([100])
    scope.stop()
    expect(sent.map((v) => v.viewed.length)).toEqual([100, 30])
  })

  it('come with searches; a text that continues the last one replaces it', () => {
    for (const text of ['pho', 'bun', 'Bún chả', 'bun cha', 'tra']) searchedFor(text)
    vi.advanceTimersByTime(5000)
    for (let n = 0; n < 12; n++) searchedFor(`${String(n)} beers`)
    vi.advanceTimersByTime(5000)
    expect(sent.map((v) => v.searches.length)).toEqual([3, 10])
    expect(sent[0]?.searches).toEqual(['pho', 'bun cha', 'tra'])
  })

  it('are sent when the page is hidden', () => {
    sawDish('9')
    const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
    document.dispatchEvent(new Event('visibilitychange'))
    hidden.mockRestore()
    expect(sent).toEqual([{ viewed: ['9'], added: [], opened: [], pages: [], searches: [] }])
  })
})
