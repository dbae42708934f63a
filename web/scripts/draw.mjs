// Draws the pictures of the demo's dishes into the demo's folder: node scripts/draw.mjs
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { dishes } from './drawing/dishes.mjs'
import { chance } from './drawing/shapes.mjs'

const folder = fileURLToPath(new URL('../../internal/demo/pictures/', import.meta.url))
mkdirSync(folder, { recursive: true })
for (const [id, draw] of Object.entries(dishes)) writeFileSync(`${folder}${id}.svg`, draw(chance(Number(id))))
