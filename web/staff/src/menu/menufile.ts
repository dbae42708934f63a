import { Fault } from '@shared/api/fault'
import type { components } from '@shared/api/schema'
import { bearer } from '../shell/session'

/** The largest file that the server accepts, in bytes. */
export const largest = 64 * 1024 * 1024

/** The file types that a file dialog offers. */
export const formats = '.csv,.xlsx,.zip'

/** The query keys whose cached responses an import invalidates. */
export const touched = ['menus', 'versions', 'version', 'dishes', 'categories']

/** A problem of a menu file. Row 0 stands for the whole file, an empty column for the whole row. */
export interface Problem {
  row: number
  column: string
  code: string
  message: string
}

/** A dish as an import would write it. */
export type PreviewRow = components['schemas']['CatalogPreviewRow']

export interface Result {
  created: number
  updated: number
  problems: Problem[]
  rows: PreviewRow[] // only of a dry run, and not all of a long file
}

/** Sends a menu file. A dry run changes nothing and returns the problems; otherwise a file with problems is a fault. */
export async function sendMenu(
  branchId: string, file: Blob, options: { menuId: string; dryRun: boolean; publish: boolean },
): Promise<Result> {
  if (file.size > largest) throw new Fault('menu_file_too_large')
  const headers = { ...(await bearer()), 'Content-Type': file.type || 'application/octet-stream' }
  const menu = options.menuId ? `&menuId=${encodeURIComponent(options.menuId)}` : ''
  const query = `dryRun=${String(options.dryRun)}&publish=${String(options.publish)}${menu}`
  // A long time limit: connections may be slow, and the server scales pictures one after the other.
  const response = await fetch(`/api/branches/${encodeURIComponent(branchId)}/menu/import?${query}`, {
    method: 'POST', headers, body: file, signal: AbortSignal.timeout(8 * 60_000),
  }).catch(() => {
    throw new Fault('offline')
  })
  const said = (await response.json().catch(() => ({}))) as Partial<Result> & { code?: string }
  if (response.ok) return { created: said.created ?? 0, updated: said.updated ?? 0, problems: said.problems ?? [], rows: said.rows ?? [] }
  throw new Fault(said.code ?? 'unavailable', response.status, said, Number(response.headers.get('Retry-After')) || 0)
}
