import createClient from 'openapi-fetch'

import { Fault, type Problem } from './fault'
import type { paths } from './schema'
import { noteServerTime } from '../time'

/** The time limit of every request, in ms. The server's own limit is eight seconds. */
const patience = 10_000

/** The API's client. `headers` is called for each request; no request takes longer than `longest` milliseconds. */
export function newClient(headers: () => Record<string, string>, longest = patience) {
  const client = createClient<paths>({
    baseUrl: '/',
    fetch: (request: Request) => fetch(new Request(request, { signal: AbortSignal.timeout(longest) })),
  })
  client.use({
    onRequest({ request }) {
      for (const [name, value] of Object.entries(headers())) request.headers.set(name, value)
      return request
    },
    onResponse({ response }) {
      noteServerTime(response.headers.get('Date'))
    },
  })
  return client
}

/** The client's result of an operation. */
export interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/** Returns the body of an answer, or throws a Fault. A call of several requests may throw the Fault of one of them. */
export async function answer<T>(call: Promise<Answer<T>>): Promise<T> {
  let got: Answer<T>
  try {
    got = await call
  } catch (e) {
    throw e instanceof Fault ? e : new Fault('offline')
  }
  if (got.response.ok) return got.data as T
  const problem = (typeof got.error === 'object' && got.error !== null ? got.error : {}) as Problem
  const retryAfter = Number(got.response.headers.get('Retry-After')) || 0
  throw new Fault(problem.code || 'unavailable', got.response.status, { ...problem }, retryAfter)
}
