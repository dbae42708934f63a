// Writes a .br and a .gz beside every built file that compresses. The server compresses pages itself, because it adds boot
// data to them first.
import { readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

import { dist, files } from './dist.mjs'

for (const name of files().filter((f) => /\.(js|css|svg|json|webmanifest)$/.test(f))) {
  const content = readFileSync(dist + name)
  const smaller = {
    br: brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    gz: gzipSync(content, { level: 9 }),
  }
  for (const [ending, compressed] of Object.entries(smaller)) {
    if (compressed.length < content.length * 0.9) writeFileSync(`${dist}${name}.${ending}`, compressed)
  }
}
