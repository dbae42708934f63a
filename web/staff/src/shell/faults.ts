import { Fault, isFault } from '@shared/api/fault'
import { t, hasText } from './i18n'

/**
 * The text for a fault: the text of its code for the status of the order, the text of its code, or the server's own text,
 * which is in English. What was not found needs no text of its own.
 */
export function faultText(e: unknown): string {
  if (!isFault(e)) return t('shell.fault_unknown')
  const key = `shell.fault_${e.code}`
  const missing = e.code.endsWith('_not_found') ? ['shell.fault_not_found'] : []
  const found = [`${key}_${String(e.problem.orderStatus)}`, key, ...missing].find(hasText)
  if (found) return t(found, { count: Math.max(1, Math.ceil(e.retryAfter)) })
  return details(e) || t('shell.fault_unknown')
}

/** The fields that the server rejects, or its own text if it names none. */
function details(e: Fault): string {
  const errors = e.problem.errors
  const fields = Array.isArray(errors)
    ? (errors as { field?: string; message?: string }[]).map((f) => [f.field, f.message].filter(Boolean).join(': '))
    : []
  return fields.length > 0 ? fields.join('\n') : (e.problem.detail ?? '')
}
