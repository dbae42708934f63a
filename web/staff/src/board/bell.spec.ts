import { afterEach, beforeEach, expect, test, vi } from 'vitest'

let allowed = true // whether the browser starts audio
let played: number[] = []
let stop = (): void => undefined

class Speaker {
  state = 'suspended'
  currentTime = 0
  destination = {}
  onstatechange: () => void = () => undefined
  resume = (): Promise<void> => {
    if (!allowed) return Promise.reject(new Error('not allowed'))
    this.state = 'running'
    this.onstatechange()
    return Promise.resolve()
  }
  createOscillator = () => {
    const tone = { frequency: { value: 0 }, connect: (to: unknown) => to, start: () => played.push(tone.frequency.value), stop: () => undefined }
    return tone
  }
  createGain = () => ({
    gain: { setValueAtTime: () => undefined, exponentialRampToValueAtTime: () => undefined }, connect: (to: unknown) => to, disconnect: () => undefined,
  })
}

/** The bell of a page that has just been opened. */
async function opened() {
  stop()
  vi.resetModules()
  const bell = await import('./bell')
  stop = bell.armBell()
  return bell
}

const touch = async (): Promise<void> => {
  document.dispatchEvent(new Event('pointerup'))
  await Promise.resolve()
  await Promise.resolve()
}

beforeEach(() => {
  allowed = true
  played = []
  localStorage.clear()
  vi.stubGlobal('AudioContext', Speaker)
})

afterEach(() => {
  stop()
  vi.unstubAllGlobals()
})

test('the sound is on by default, and starts with the first touch', async () => {
  const bell = await opened()
  expect([bell.wanted.value, bell.unlocked.value]).toEqual([true, false])
  bell.ring()
  expect(played).toEqual([]) // the browser does not allow it yet
  await touch()
  expect(bell.unlocked.value).toBe(true)
  bell.ring()
  expect(played).toEqual([660, 880])
})

test('a late ticket sounds different from a new one', async () => {
  const bell = await opened()
  await touch()
  bell.ring(true)
  expect(played).toEqual([880, 660, 440])
})

test('the choice is kept on the device', async () => {
  let bell = await opened()
  await touch()
  await bell.toggleBell()
  expect(bell.wanted.value).toBe(false)
  bell.ring()
  bell = await opened()
  await touch()
  bell.ring()
  expect([bell.wanted.value, played]).toEqual([false, []])
  await bell.toggleBell() // on again, with a sound to hear that it works
  expect(played).toEqual([660, 880])
  expect((await opened()).wanted.value).toBe(true)
})

test('one press turns on a sound that the browser has blocked until now', async () => {
  allowed = false
  const bell = await opened()
  await touch()
  expect(bell.unlocked.value).toBe(false)
  bell.ring()
  expect(played).toEqual([])
  allowed = true
  await bell.toggleBell()
  expect([bell.wanted.value, bell.unlocked.value, played]).toEqual([true, true, [660, 880]])
})
