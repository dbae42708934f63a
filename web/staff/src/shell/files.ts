import { Fault } from '@shared/api/fault'
import { bearer } from './session'

/** Hands a file to the browser to be kept. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => {
    URL.revokeObjectURL(link.href)
  }, 60_000)
}

/** Fetches what is no JSON, such as a drawing, as the person who is logged in. */
export async function fetchFile(path: string): Promise<Blob> {
  const headers = await bearer()
  const response = await fetch(path, { headers, cache: 'no-store', signal: AbortSignal.timeout(30_000) }).catch(() => {
    throw new Fault('offline')
  })
  if (response.ok) return response.blob()
  const problem = (await response.json().catch(() => ({}))) as { code?: string }
  throw new Fault(problem.code ?? 'unavailable', response.status, problem)
}

/** Writes rows as spreadsheets read them: RFC 4180, with the mark by which they know UTF-8. */
export function toCSV(rows: (string | number | null | undefined)[][]): string {
  return '\ufeff' + rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n'
}

// A text that begins like a formula would be computed by the spreadsheet: what guests write is no formula.
function cell(value: string | number | null | undefined): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** Hands a table to the browser to be kept. */
export function saveCSV(name: string, rows: (string | number | null | undefined)[][]): void {
  saveFile(name, new Blob([toCSV(rows)], { type: 'text/csv;charset=utf-8' }))
}
