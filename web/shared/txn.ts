/**
 * Returns a new clientTxnId. Requests with the same clientTxnId have one effect. It begins with the time, so that the keys of
 * one day stand together in the server's index: a random key would change a page of its own with each order. Unlike
 * crypto.randomUUID, this works without a secure context.
 */
export function newTxnId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  const random = crypto.getRandomValues(new Uint8Array(10))
  return 'w-' + time + Array.from(random, (b) => b.toString(16).padStart(2, '0')).join('')
}
