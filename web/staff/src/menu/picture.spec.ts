import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { maxPictureBytes, sendPicture, thumb } from './picture'

const fetched = vi.fn<typeof fetch>()
vi.mock('../shell/session', () => ({ bearer: () => Promise.resolve({ Authorization: 'Bearer somebody' }) }))

beforeEach(() => {
  vi.stubGlobal('fetch', fetched)
})
afterEach(() => {
  vi.unstubAllGlobals()
  fetched.mockReset()
})

const answer = (status: number, body: unknown, headers = {}) => new Response(JSON.stringify(body), { status, headers })

test('a picture is sent unchanged, with the user’s token', async () => {
  fetched.mockResolvedValue(answer(201, { id: 'ab', imageUrl: '/media/ab-960.jpg' }))
  const file = new Blob(['x'], { type: 'image/png' })
  expect(await sendPicture(file)).toEqual({ id: 'ab', imageUrl: '/media/ab-960.jpg' })
  expect(fetched).toHaveBeenCalledWith('/api/images', expect.objectContaining({
    method: 'POST', body: file, headers: { Authorization: 'Bearer somebody', 'Content-Type': 'image/png' },
  }))
})

test('a file above the limit is not sent', async () => {
  await expect(sendPicture({ size: maxPictureBytes + 1 } as Blob)).rejects.toMatchObject({ code: 'image_too_large' })
  expect(fetched).not.toHaveBeenCalled()
})

test.each([
  ['its code', answer(422, { code: 'image_unreadable' }), 'image_unreadable'],
  ['a code for what is no answer of the API', new Response('<html>', { status: 502 }), 'unavailable'],
  ['a code for half an answer', answer(201, {}), 'unavailable'],
])('a refusal has %s', async (_, response, code) => {
  fetched.mockResolvedValue(response)
  await expect(sendPicture(new Blob(['x']))).rejects.toMatchObject({ code })
})

test('a refusal contains the server’s waiting time', async () => {
  fetched.mockResolvedValue(answer(503, { code: 'overloaded' }, { 'Retry-After': '2' }))
  await expect(sendPicture(new Blob(['x']))).rejects.toMatchObject({ code: 'overloaded', retryAfter: 2 })
})

test('a missing network is reported', async () => {
  fetched.mockRejectedValue(new TypeError('failed'))
  await expect(sendPicture(new Blob(['x']))).rejects.toMatchObject({ code: 'offline' })
})

test.each([['/media/ab-960.jpg', '/media/ab-320.jpg'], ['/media/4', '/media/4']])('the small size of %s is %s', (url, want) => {
  expect(thumb(url)).toBe(want)
})
