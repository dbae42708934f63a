// The shapes of the dish drawings. Everything is seen from above on a table of 400 x 300. Random details come from a seed,
// so that every run draws the same picture. The drawings use attributes instead of styles, because the pages' content
// security policy blocks inline styles.

/** A pseudo-random generator: the same seed yields the same numbers. */
export function chance(seed) {
  let a = seed * 2654435761
  const next = () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  return (from = 0, to = 1) => from + (to - from) * next()
}

const r = (n) => Math.round(n * 10) / 10

export const circle = (x, y, radius, fill, more = '') => `<circle cx="${r(x)}" cy="${r(y)}" r="${r(radius)}" fill="${fill}"${more}/>`
export const ellipse = (x, y, rx, ry, fill, more = '') => `<ellipse cx="${r(x)}" cy="${r(y)}" rx="${r(rx)}" ry="${r(ry)}" fill="${fill}"${more}/>`
export const rect = (x, y, w, h, round, fill, more = '') =>
  `<rect x="${r(x)}" y="${r(y)}" width="${r(w)}" height="${r(h)}" rx="${r(round)}" fill="${fill}"${more}/>`
export const path = (d, fill, more = '') => `<path d="${d}" fill="${fill}"${more}/>`
export const line = (d, stroke, width, more = '') =>
  `<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${width}" stroke-linecap="round"${more}/>`
export const turned = (x, y, angle, inner) => `<g transform="translate(${r(x)} ${r(y)}) rotate(${r(angle)})">${inner}</g>`

/** Random positions inside a circle, with a distance between them where possible. */
export function places(random, n, radius, x = 200, y = 150, apart = 0) {
  const found = []
  for (let tries = 0; found.length < n && tries < n * 40; tries++) {
    const angle = random(0, Math.PI * 2)
    const distance = Math.sqrt(random()) * radius
    const at = [x + Math.cos(angle) * distance, y + Math.sin(angle) * distance]
    if (found.every(([a, b]) => Math.hypot(a - at[0], b - at[1]) >= apart * (1 - tries / (n * 40)))) found.push(at)
  }
  return found
}

/** The table, with light from the upper left and a mat. */
export function table(light, dark, mat, body) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300" width="400" height="300">
<defs><radialGradient id="t" cx=".3" cy=".2" r="1"><stop offset="0" stop-color="${light}"/><stop offset="1" stop-color="${dark}"/></radialGradient>
<radialGradient id="s"><stop offset=".75" stop-color="#1a0c05" stop-opacity=".42"/><stop offset="1" stop-color="#1a0c05" stop-opacity="0"/></radialGradient>
<clipPath id="in"><circle cx="200" cy="150" r="104"/></clipPath></defs>
<rect width="400" height="300" fill="url(#t)"/>
${mat}
${body}
</svg>
`
}

/** A woven mat with a hem. */
export const mat = (colour, thread) => {
  let all = rect(34, 14, 332, 272, 10, colour)
  for (let y = 30; y < 285; y += 16) all += line(`M40 ${y}H360`, thread, 1.2, ' opacity=".5"')
  return all + rect(34, 14, 332, 272, 10, 'none', ` stroke="${thread}" stroke-width="3"`)
}

export const chopsticks = (x = 338, angle = 8) =>
  turned(x, 150, angle, rect(-7, -128, 6, 256, 3, '#5b2b18') + rect(5, -128, 6, 256, 3, '#6d3620') + rect(-7, -128, 6, 46, 3, '#c0392b') + rect(5, -128, 6, 46, 3, '#c0392b'))

/** A bowl with its content. The inside has a radius of 104. */
export const bowl = (glaze, rim, inside, contents) =>
  ellipse(208, 164, 142, 138, 'url(#s)') + circle(200, 150, 128, rim) + circle(200, 150, 123, glaze) +
  circle(200, 150, 108, '#000', ' opacity=".16"') + circle(200, 150, 105, inside) +
  `<g clip-path="url(#in)">${contents}</g>` +
  line('M96 105A113 113 0 0 1 150 48', '#fff', 5, ' opacity=".55"')

/** A flat plate with its content. */
export const plate = (glaze, rim, contents) =>
  ellipse(208, 162, 146, 140, 'url(#s)') + circle(200, 150, 130, rim) + circle(200, 150, 125, glaze) +
  circle(200, 150, 96, '#000', ' opacity=".05"') + circle(200, 150, 93, glaze) + contents +
  line('M92 104A118 118 0 0 1 148 44', '#fff', 4, ' opacity=".5"')

/** Strands that lie in loops. */
export function noodles(random, n, colours, radius = 100, width = 6) {
  let all = ''
  for (let i = 0; i < n; i++) {
    const [[x, y]] = places(random, 1, radius * 0.7)
    const a = random(0, 6.28)
    const size = random(35, 75)
    const [dx, dy] = [Math.cos(a) * size, Math.sin(a) * size]
    const bend = random(-0.9, 0.9)
    all += line(
      `M${r(x - dx)} ${r(y - dy)}Q${r(x - dy * bend)} ${r(y + dx * bend)} ${r(x + dx)} ${r(y + dy)}`,
      colours[i % colours.length], width,
    )
  }
  return all
}

/** Slices of meat with a paler grain. */
export function slices(random, at, colour, grain, size = 24) {
  return at.map(([x, y]) => {
    const w = size * random(0.9, 1.25)
    const h = size * random(0.55, 0.75)
    const blob = `M${r(-w)} 0C${r(-w)} ${r(-h * 1.3)} ${r(w * 0.7)} ${r(-h * 1.2)} ${r(w)} ${r(-h * 0.2)}S${r(w * 0.3)} ${r(h * 1.3)} ${r(-w * 0.4)} ${r(h)}S${r(-w)} ${r(h * 0.6)} ${r(-w)} 0z`
    return turned(x, y, random(0, 180),
      turned(2, 3, 0, path(blob, '#2a0f06', ' opacity=".25"')) + path(blob, colour) +
      line(`M${r(-w * 0.6)} ${r(-h * 0.1)}Q0 ${r(-h * 0.6)} ${r(w * 0.6)} ${r(-h * 0.2)}M${r(-w * 0.5)} ${r(h * 0.4)}Q0 ${r(h * 0.1)} ${r(w * 0.5)} ${r(h * 0.3)}`, grain, 1.6, ' opacity=".8"'))
  }).join('')
}

export function leaves(random, at, colours, size = 12) {
  return at.map(([x, y], i) => {
    const s = size * random(0.8, 1.2)
    return turned(x, y, random(0, 360),
      path(`M0 ${r(-s)}C${r(s * 0.9)} ${r(-s * 0.5)} ${r(s * 0.8)} ${r(s * 0.6)} 0 ${r(s)}C${r(-s * 0.8)} ${r(s * 0.6)} ${r(-s * 0.9)} ${r(-s * 0.5)} 0 ${r(-s)}z`, colours[i % colours.length]) +
      line(`M0 ${r(-s * 0.7)}V${r(s * 0.7)}`, '#fff', 0.9, ' opacity=".4"'))
  }).join('')
}

export const rings = (random, at, colour, size = 4.5) =>
  at.map(([x, y]) => `<circle cx="${r(x)}" cy="${r(y)}" r="${r(size * random(0.8, 1.2))}" fill="#eef7d8" stroke="${colour}" stroke-width="${r(size * 0.55)}"/>`).join('')

export const chilli = (random, at) => at.map(([x, y]) => turned(x, y, random(0, 180), ellipse(0, 0, 6, 4.5, '#c62a1b') + ellipse(0, 0, 3, 2.2, '#f2c9a0'))).join('')

/** Small pieces: nuts, crisp shallots, minced meat. */
export const bits = (random, at, colours, w = 5, h = 3) =>
  at.map(([x, y], i) => turned(x, y, random(0, 180), ellipse(0, 0, w * random(0.7, 1.2), h * random(0.7, 1.2), colours[i % colours.length]))).join('')

/** Grains of rice heaped up. */
export function rice(random, n, radius, colours, x = 200, y = 150) {
  return bits(random, places(random, n, radius, x, y), colours, 5.5, 2)
}

export const cubes = (random, at, colour, light, size = 20) =>
  at.map(([x, y]) => turned(x, y, random(0, 90), rect(-size / 2 + 2, -size / 2 + 3, size, size, 4, '#2a0f06', ' opacity=".22"') + rect(-size / 2, -size / 2, size, size, 4, colour) + rect(-size / 2 + 2, -size / 2 + 2, size * 0.6, size * 0.35, 2, light, ' opacity=".7"'))).join('')

export const strips = (random, at, colours, length = 16, width = 3) =>
  at.map(([x, y], i) => turned(x, y, random(0, 180), line(`M${r(-length)} 0Q0 ${r(random(-7, 7))} ${r(length)} 0`, colours[i % colours.length], width))).join('')

export const friedEgg = (x, y, s = 1) =>
  path(`M${r(x - 38 * s)} ${r(y)}c${r(-4 * s)} ${r(-34 * s)} ${r(34 * s)} ${r(-46 * s)} ${r(52 * s)} ${r(-28 * s)}c${r(30 * s)} ${r(2 * s)} ${r(28 * s)} ${r(44 * s)} ${r(4 * s)} ${r(50 * s)}c${r(-22 * s)} ${r(18 * s)} ${r(-56 * s)} ${r(8 * s)} ${r(-56 * s)} ${r(-22 * s)}z`, '#fffaf0') +
  circle(x, y, 16 * s, '#f4a62a') + ellipse(x - 5 * s, y - 5 * s, 5 * s, 3.5 * s, '#ffe1a0')

export const halfEgg = (x, y, angle) => turned(x, y, angle, ellipse(0, 0, 24, 18, '#fdf3e0') + ellipse(2, 0, 12.5, 11, '#ee9b23') + ellipse(-1, -3, 4, 3, '#ffd98a'))

export const shrimp = (x, y, angle) =>
  turned(x, y, angle, line('M-16 10C-20-14 10-20 18-2', '#ef7d4f', 13) + line('M-13 4l5 3M-10-6l6 5M-1-12l2 7M10-11l-3 6', '#ffd2b8', 2.4) + path('M15-2l12 2-8 8z', '#e0562f'))

/** A small dish of dip beside the plate. */
export const dip = (x, y, colour) => ellipse(x + 4, y + 6, 42, 40, 'url(#s)') + circle(x, y, 34, '#f7efe2') + circle(x, y, 28, colour) + line(`M${x - 19} ${y - 8}a20 20 0 0 1 13-12`, '#fff', 3, ' opacity=".5"')
