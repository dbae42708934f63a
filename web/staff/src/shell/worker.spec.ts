import { afterEach, beforeEach, expect, test, vi, type Mock } from 'vitest'

interface Waiting { postMessage: (text: string) => void }

const asked: string[] = []
const reload = vi.fn()
let container: EventTarget & { controller: object | null; getRegistration: Mock }
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
  container = Object.assign(new EventTarget(), { controller: {}, register: () => Promise.resolve(registration), getRegistration: vi.fn(() => Promise.resolve(registration)) })
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

test('a release that another tab has activated is still offered, and loaded', async () => {
  await worker.registerWorker()
  const installing = new EventTarget()
  registration.installing = installing
  registration.dispatchEvent(new Event('updatefound'))
  registration.waiting = release()
  installing.dispatchEvent(new Event('statechange'))
  registration.waiting = null
  installing.dispatchEvent(new Event('statechange')) // activating
  expect(worker.updated.value).toBe(true)
  worker.updated.value = false // the notice is closed
  container.dispatchEvent(new Event('controllerchange')) // the files of this page's release are deleted
  expect(worker.updated.value).toBe(true)
  worker.takeOver()
  expect([asked, reload.mock.calls.length]).toEqual([[], 1])
})

test('a release that another tab has loaded from the server is loaded', async () => {
  registration.waiting = release(false)
  registration.update.mockRejectedValue(new TypeError('the registration is removed'))
  await worker.registerWorker()
  container.getRegistration.mockResolvedValue({ waiting: null }) // of the other tab
  worker.takeOver()
  await vi.advanceTimersByTimeAsync(3000)
  expect(container.getRegistration).toHaveBeenCalledWith('/console/')
  expect(reload).toHaveBeenCalledOnce()
})

test('a page that no worker has served gets no notice of the first one, and one of the next', async () => {
  container.controller = null
  await worker.registerWorker()
  const installing = new EventTarget()
  registration.installing = installing
  registration.dispatchEvent(new Event('updatefound'))
  registration.waiting = release()
  installing.dispatchEvent(new Event('statechange'))
  container.dispatchEvent(new Event('controllerchange')) // the first worker claims the page
  expect(worker.updated.value).toBe(false)
  container.dispatchEvent(new Event('controllerchange')) // another tab has activated the next release
  expect(worker.updated.value).toBe(true)
})
