import { afterEach, beforeEach, expect, test, vi, type Mock } from 'vitest'

interface Waiting { postMessage: (text: string) => void }

const asked: string[] = []
const reload = vi.fn()
let container: EventTarget & { controller: object | null }
let registration: EventTarget & { waiting: Waiting | null; installing: EventTarget | null; update: Mock; unregister: Mock }
let worker: typeof import('./worker')

/** A new release that becomes active when it is asked, or never. */
const release = (prompt = true): Waiting => ({
  postMessage: (text) => {
    asked.push(text)
    if (!prompt) return
    registration.waiting = null
    container.dispatchEvent(new Event('controllerchange'))
  },
})

beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  asked.length = 0
  reload.mockReset()
  registration = Object.assign(new EventTarget(), { waiting: null, installing: null, update: vi.fn(() => Promise.resolve()), unregister: vi.fn(() => Promise.resolve(true)) })
  container = Object.assign(new EventTarget(), { controller: {}, register: () => Promise.resolve(registration) })
  vi.stubGlobal('navigator', { serviceWorker: container })
  vi.stubGlobal('location', { reload })
  vi.stubGlobal('window', {})
  worker = await import('./worker')
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a new release is offered once it is installed', async () => {
  await worker.registerWorker()
  expect(worker.updated.value).toBe(false)
  const installing = new EventTarget()
  registration.installing = installing
  registration.dispatchEvent(new Event('updatefound'))
  registration.waiting = release()
  installing.dispatchEvent(new Event('statechange'))
  expect(worker.updated.value).toBe(true)
})

test('a release that is active soon is loaded once, by its worker', async () => {
  registration.waiting = release()
  await worker.registerWorker()
  worker.takeOver()
  worker.takeOver() // a second click
  await vi.advanceTimersByTimeAsync(10_000)
  expect(asked).toEqual(['take over'])
  expect(registration.unregister).not.toHaveBeenCalled()
  expect(reload).toHaveBeenCalledOnce()
})

test('a release that the browser does not activate is loaded from the server', async () => {
  registration.waiting = release(false)
  registration.update.mockRejectedValueOnce(new TypeError('no network'))
  await worker.registerWorker()
  worker.takeOver()
  await vi.advanceTimersByTimeAsync(3000)
  expect(registration.unregister).not.toHaveBeenCalled() // without a network the app opens only by its worker
  expect(reload).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(3000)
  expect(registration.unregister).toHaveBeenCalledOnce()
  expect(reload).toHaveBeenCalledOnce()
})

test('a release that another tab has activated is loaded', async () => {
  registration.waiting = release()
  await worker.registerWorker()
  registration.waiting = null
  worker.takeOver()
  expect(reload).toHaveBeenCalledOnce()
})
