import { QueryCache, QueryClient, useMutation, useQuery, useQueryClient, type UseQueryReturnType } from '@tanstack/vue-query'
import { computed, toValue, watch, type MaybeRefOrGetter } from 'vue'

import type { Answer } from '@shared/api/client'
import { isFault, type Fault } from '@shared/api/fault'
import { untilReachable } from '@shared/reachable'
import { branchId } from './branch'
import { language } from './i18n'
import { complain, notify } from './notices'
import { ask } from './session'

export const queries = new QueryClient({
  queryCache: new QueryCache({
    onError(e) {
      if (isFault(e, 'offline')) void recover()
    },
  }),
  defaultOptions: {
    // Offline, requests fail at once. They are not queued: a change must not be sent after the user has left it.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 5_000,
      retry: (failures, e) => isFault(e) && e.passing && failures < 2,
    },
  },
})

let recovering = false

/** Waits for the server, and reads again what the current page could not read during the outage. */
async function recover(): Promise<void> {
  if (recovering) return
  recovering = true
  await untilReachable('/console/')
  recovering = false
  await queries.refetchQueries({ type: 'active', predicate: (q) => isFault(q.state.error, 'offline') })
}

// The server writes names of people and of dishes in the language of the request. What is shown is read again, and anything
// else when it is shown the next time.
watch(language, () => void queries.invalidateQueries())

export type Asked<T> = UseQueryReturnType<T, Fault>

interface AskOptions {
  enabled?: MaybeRefOrGetter<boolean>
  every?: MaybeRefOrGetter<number | false> // ms between reloads
  keep?: boolean // shows the previous page of the branch while the next one loads
  lasting?: boolean // read again only after a failure or a change that touches the noun
}

/** Returns the function that keeps the answer shown before, if it is the branch's. */
const keptIn = (here: string) =>
  <T>(shown: T | undefined, of?: { queryKey: readonly unknown[] }): T | undefined => (of?.queryKey[1] === here ? shown : undefined)

/**
 * Reads from the API with a cache: `useAsk('tables', () => api.GET('/api/tables', ...))`. A change that touches the noun
 * reloads its answers. `key` lists the other values that the call depends on; the branch is always part of the key.
 */
export function useAsk<T>(
  noun: string, call: () => Promise<Answer<T>>, key: MaybeRefOrGetter<unknown[]> = [], options: AskOptions = {},
): Asked<T> {
  return useQuery({
    queryKey: computed(() => [noun, branchId.value, ...toValue(key)]),
    queryFn: () => ask(call),
    enabled: computed(() => toValue(options.enabled) ?? true),
    refetchInterval: computed(() => toValue(options.every) ?? false),
    // The rows of another branch must not stand under this one's name: an adjustment would be booked there. Each branch has
    // a function of its own, because vue-query calls a function again only after it was replaced.
    ...(options.keep ? { placeholderData: computed(() => keptIn(branchId.value)) } : {}),
    ...(options.lasting ? { staleTime: Infinity } : {}),
  }) as unknown as Asked<T>
}

/**
 * Reads all pages of a list: `everyPage((page) => api.GET('/api/tables', { params: { query: { page, size: 100 } } }))`. Rows
 * added or removed in the meantime may be missing or appear twice until the next read.
 */
export async function everyPage<T extends { items: unknown[]; total: number }>(
  call: (page: number) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const list = await call(1)
  for (let page = 2; list.data && list.data.items.length < list.data.total; page++) {
    const next = await call(page)
    if (!next.data) return next
    if (next.data.items.length === 0) break
    list.data.items.push(...next.data.items)
  }
  return list
}

export interface DoOptions<In, Out> {
  touches?: string[] // nouns whose cached answers become invalid
  done?: string | ((out: Out, given: In) => string | undefined) // the success message
  failed?: (fault: Fault, given: In) => boolean // returns true if no message is needed
}

/** Changes something through the API: `const close = useDo((id: string) => api.POST(...), {touches: ['visits']})`. */
export function useDo<In, Out>(call: (given: In) => Promise<Answer<Out>>, options: DoOptions<In, Out> = {}) {
  const client = useQueryClient()
  return useMutation<Out, Fault, In>({
    mutationFn: (given) => ask(() => call(given)),
    onSuccess(out, given) {
      const text = typeof options.done === 'function' ? options.done(out, given) : options.done
      if (text) notify(text)
    },
    onError(e, given) {
      if (!options.failed?.(e, given)) complain(e)
    },
    onSettled(_out, e) {
      const reloaded = Promise.all((options.touches ?? []).map((noun) => client.invalidateQueries({ queryKey: [noun] })))
      // After a failure the user can try again at once. The reload may last as long as the outage.
      return e ? undefined : reloaded
    },
  })
}
