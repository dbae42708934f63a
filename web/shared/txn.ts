/**
 * Returns a new clientTxnId. Requests with the same clientTxnId have one effect. Unlike crypto.randomUUID, this works without
 * a secure context.
 */
export function newTxnId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return 'w-' + Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
}
