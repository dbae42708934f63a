/** Where a login leads: back to a page of this part, and nowhere else. */
export function pathAfter(to: unknown): string {
  return typeof to === 'string' && /^\/shop(\/[\w/-]*)?$/.test(to) ? to : '/shop'
}
