/**
 * A clientTxnId that nobody else has: what is sent again with the same one is done once. It works without a secure
 * context too, which crypto.randomUUID does not.
 */
export function newTxnId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return 'w-' + Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
}
