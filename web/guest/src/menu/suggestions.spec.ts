import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, nextTick, ref, type EffectScope } from 'vue'

const popularSearches = vi.fn<(branchId: string) => Promise<{ searches: string[] | null }>>()
const searchedFor = vi.fn<(text: string) => void>()
vi.mock('../api/public', () => ({ popularSearches: (branchId: string) => popularSearches(branchId) }))
vi.mock('./views', () => ({ searchedFor: (text: string) => { searchedFor(text) } }))

const { useSuggestions } = await import('./suggestions')

let scope: EffectScope
let branch = 0
const query = ref('')
const none = ref(false)

function open() {
  const made = scope.run(() => useSuggestions(query, () => String(branch), () => none.value))
  if (!made) throw new Error('no suggestions')
  return made
}

beforeEach(() => {
  vi.useFakeTimers()
  popularSearches.mockReset().mockResolvedValue({ searches: ['Phở bò', 'Đậu hũ', '牛肉'] })
  searchedFor.mockReset()
  query.value = ''
  none.value = false
  branch++ // the module remembers the suggestions of a branch
  scope = effectScope()
})

afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})

async function type(text: string) {
  query.value = text
  await nextTick()
}

describe('suggestions', () => {
  it('are fetched when the search begins, and once a minute', async () => {
    const { texts, load } = open()
    expect(popularSearches).not.toHaveBeenCalled()
    load()
    load()
    await vi.advanceTimersByTimeAsync(1)
    expect(popularSearches).toHaveBeenCalledTimes(1)
    expect(texts.value).toEqual(['Phở bò', 'Đậu hũ', '牛肉'])
    await vi.advanceTimersByTimeAsync(60_000)
    load()
    expect(popularSearches).toHaveBeenCalledTimes(2)
  })

  it('continue what is typed; all are shown if no dish matches', async () => {
    const { texts, load } = open()
    load()
    await vi.advanceTimersByTimeAsync(1)
    await type('dau')
    expect(texts.value).toEqual(['Đậu hũ'])
    await type('pho  bo')
    expect(texts.value).toEqual([]) // is what was typed
    none.value = true
    expect(texts.value).toHaveLength(3)
  })

  it('are missing if the server does not answer', async () => {
    popularSearches.mockRejectedValue(new Error('offline'))
    const { texts, load } = open()
    load()
    await vi.advanceTimersByTimeAsync(1)
    expect(texts.value).toEqual([])
  })
})

describe('a search', () => {
  it('counts once the text has not changed for two seconds', async () => {
    open()
    await type('bun')
    vi.advanceTimersByTime(1999)
    await type('bun cha ')
    vi.advanceTimersByTime(1999)
    expect(searchedFor).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(searchedFor.mock.calls).toEqual([['bun cha']])
    await type('')
    expect(searchedFor).toHaveBeenCalledTimes(1)
  })

  it('counts when the text is removed, sent, or the page is left', async () => {
    const { finish } = open()
    await type('pizza')
    await type('')
    await type('beer')
    finish()
    await type('tea')
    scope.stop()
    expect(searchedFor.mock.calls).toEqual([['pizza'], ['beer'], ['tea']])
  })
})
