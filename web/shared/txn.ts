/**
 * A new clientTxnId: requests with the same one have one effect. It works without a secure
 * context too, which crypto.randomUUID does not.
 */
export function newTxnId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return 'w-' + Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
}
