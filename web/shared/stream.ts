import { Fault } from './api/fault'
import { noteServerTime } from './time'

/** One server-sent event. */
export interface StreamEvent {
  id: string
  name: string
  data: string
}

/** Parses text in chunks and returns the complete events. */
export class EventParser {
  private rest = ''

  push(text: string): StreamEvent[] {
    const blocks = (this.rest + text).split(/\r?\n\r?\n/)
    this.rest = blocks.pop() ?? ''
    return blocks.map(parse).filter((event) => event.data !== '')
  }
}

function parse(block: string): StreamEvent {
  const event: StreamEvent = { id: '', name: 'message', data: '' }
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ''] = /^([a-z]+): ?(.*)$/.exec(line) ?? []
    if (field === 'id') event.id = value
    else if (field === 'event') event.name = value
    else if (field === 'data') data.push(value)
  }
  event.data = data.join('\n')
  return event
}

export interface StreamOptions {
  url: string
  headers: () => Record<string, string>
  onEvent: (event: StreamEvent) => void
  /** Called when the stream connects or is lost. */
  onLive?: (live: boolean) => void
  /** Called when the server refuses the stream. The stream has then ended. */
  onRefused?: (fault: Fault) => void
}

/** Silence in ms after which a connection counts as lost. The server sends something every 15 seconds. */
const silence = 40_000
const shortest = 500
const longest = 10_000

/**
 * Follows a stream of events until the returned function is called. It replaces the browser's EventSource, which cannot send
 * the guest's token. A lost connection is reopened with the id of the last event, so that no event is missed.
 */
export function follow(options: StreamOptions): () => void {
  const ended = new AbortController()
  void run(options, ended.signal)
  return () => {
    ended.abort()
  }
}

async function run(options: StreamOptions, ended: AbortSignal): Promise<void> {
  let last = ''
  let wait = shortest
  while (!ended.aborted) {
    try {
      await listen(options, ended, last, (event) => {
        last = event.id || last
        wait = shortest
        options.onEvent(event)
      })
    } catch (e) {
      if (e instanceof Fault && !e.passing) {
        if (!ended.aborted) options.onRefused?.(e)
        return
      }
    }
    if (ended.aborted) return
    options.onLive?.(false)
    await pause(wait * (0.75 + Math.random() / 2), ended)
    wait = Math.min(wait * 2, longest)
  }
}

async function listen(
  options: StreamOptions, ended: AbortSignal, last: string, onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const attempt = new AbortController()
  const end = () => {
    attempt.abort()
  }
  ended.addEventListener('abort', end, { once: true })
  let watchdog = setTimeout(end, silence)
  try {
    const headers: Record<string, string> = { ...options.headers(), Accept: 'text/event-stream' }
    if (last) headers['Last-Event-ID'] = last
    const response = await fetch(options.url, { headers, signal: attempt.signal, cache: 'no-store' })
    noteServerTime(response.headers.get('Date'))
    if (!response.ok || !response.body) {
      const problem = (await response.json().catch(() => ({}))) as { code?: string }
      throw new Fault(problem.code ?? 'unavailable', response.status, problem)
    }
    options.onLive?.(true)
    const parser = new EventParser()
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(watchdog)
      watchdog = setTimeout(end, silence)
      parser.push(decoder.decode(value, { stream: true })).forEach(onEvent)
    }
  } finally {
    clearTimeout(watchdog)
    ended.removeEventListener('abort', end)
  }
}

/** Waits until the pause ends, the network is back or the page becomes visible. */
function pause(milliseconds: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      document.removeEventListener('visibilitychange', done)
      ended.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    addEventListener('online', done)
    document.addEventListener('visibilitychange', done)
    ended.addEventListener('abort', done)
  })
}
