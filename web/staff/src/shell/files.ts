import { Fault } from '@shared/api/fault'
import { bearer } from './session'

/** Offers a file as a download. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => {
    URL.revokeObjectURL(link.href)
  }, 60_000)
}

/** Fetches content other than JSON, such as a drawing, with the user's token. */
export async function fetchFile(path: string): Promise<Blob> {
  const headers = await bearer()
  const response = await fetch(path, { headers, cache: 'no-store', signal: AbortSignal.timeout(30_000) }).catch(() => {
    throw new Fault('offline')
  })
  if (response.ok) return response.blob()
  const problem = (await response.json().catch(() => ({}))) as { code?: string }
  throw new Fault(problem.code ?? 'unavailable', response.status, problem)
}
