// The only place that converts text to elements. The trusted-types policy has a name, so that no other code can.
const policy = (globalThis as { trustedTypes?: { createPolicy: (name: string, rules: object) => Maker } }).trustedTypes?.createPolicy(
  'comanda-sheet', { createHTML: (html: string) => html },
)

interface Maker {
  createHTML: (html: string) => unknown
}

/** The pages of a sheet of codes, as the server has drawn them: drawings without scripts, styles or links. */
export function readSheet(html: string): SVGElement[] {
  const plain = html.replaceAll(/<style[^]*?<\/style>/g, '') // the style is meant for the sheet alone, and the security policy forbids it here
  const made = new DOMParser().parseFromString((policy?.createHTML(plain) ?? plain) as string, 'text/html')
  const pages = [...made.querySelectorAll<SVGElement>('svg.sheet')]
  for (const page of pages) page.querySelectorAll('script, style, a, foreignObject, image').forEach((e) => { e.remove() })
  return pages.map((page) => document.importNode(page, true))
}
