/** The page after a login. Only members' pages are accepted, so that a link cannot lead to another site. */
export function pathAfter(to: unknown): string {
  return typeof to === 'string' && /^\/shop(\/[\w/-]*)?$/.test(to) ? to : '/shop'
}
