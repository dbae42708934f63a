/** The parts of a link, or undefined if it is none. URL.canParse is missing in Safari before 17. */
export function parsed(link: string): URL | undefined {
  try {
    return new URL(link)
  } catch {
    return undefined
  }
}
