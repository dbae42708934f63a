import { parsed } from '@shared/link'

/** From where a link works: on the server's own machine, in a private network, or everywhere. */
export type Reach = 'machine' | 'network' | 'anywhere'

const privateHost = /^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.)[\d.]+$|^\[(f[cd]|fe[89ab])|\.(local|lan|internal|home\.arpa)$/

/** The reach of a link, by its host: RFC 1918, 3927 and 4193, and names that only private networks resolve. */
export function reachOf(link: string): Reach {
  const host = parsed(link)?.hostname.toLowerCase() ?? ''
  if (host === 'localhost' || host.endsWith('.localhost') || host.startsWith('127.') || host === '[::1]' || host === '0.0.0.0') return 'machine'
  return privateHost.test(host) || (host !== '' && !/[.:]/.test(host)) ? 'network' : 'anywhere'
}
