// Lists the files that `vite build` has written for the server to embed.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const dist = fileURLToPath(new URL('../../internal/web/dist/', import.meta.url))

/** The built files, as paths below dist. */
export function files() {
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.replaceAll('//', '/').slice(dist.length))
}
