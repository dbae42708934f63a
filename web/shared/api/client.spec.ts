import { expect, test } from 'vitest'

import { answer } from './client'
import { Fault } from './fault'

test('a request without an answer is offline', async () => {
  await expect(answer(Promise.reject(new TypeError('failed to fetch')))).rejects.toMatchObject({ code: 'offline', status: 0 })
})

test('a call of several requests fails with the reason of the refused one', async () => {
  const call = async () => {
    await answer(Promise.resolve({ error: { code: 'menu_version_frozen' }, response: new Response(null, { status: 409 }) }))
    return { data: 1, response: new Response() }
  }
  await expect(answer(call())).rejects.toMatchObject({ code: 'menu_version_frozen', status: 409 })
  await expect(answer(Promise.reject(new Fault('unauthenticated', 401)))).rejects.toMatchObject({ status: 401 })
})
