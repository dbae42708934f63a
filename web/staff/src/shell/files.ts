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

/** Writes rows as CSV (RFC 4180), with a byte order mark, by which spreadsheets recognize UTF-8. */
export function toCSV(rows: (string | number | null | undefined)[][]): string {
  return '\ufeff' + rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n'
}

// A spreadsheet would run a text that begins like a formula, and guests can enter such texts.
function cell(value: string | number | null | undefined): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** Offers a table as a download. */
export function saveCSV(name: string, rows: (string | number | null | undefined)[][]): void {
  saveFile(name, new Blob([toCSV(rows)], { type: 'text/csv;charset=utf-8' }))
}
