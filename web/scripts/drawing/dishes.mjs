// The drawing of each dish of the demo, by dish id.
import * as s from './shapes.mjs'

const herb = ['#3f8f3a', '#5aa845', '#2f7a36']
const wood = ['#e9c79a', '#c89561']
const slate = ['#5d6f6a', '#37474a']
const clay = ['#d98b5f', '#a9532f']
const cream = ['#f6e7cd', '#e2c79d']
const blue = ['#86a9b8', '#4c7488']

const scene = ([light, dark], mat, body) => s.table(light, dark, mat, body)
const straw = s.mat('#f1dfbb', '#cba972')
const cloth = s.mat('#b8402b', '#e9a58f')
const linen = s.mat('#f5efe4', '#b9a892')
const green = s.mat('#46694c', '#86a884')

/** Rice noodles in a clear broth. */
function pho(random, { broth = '#d9a05a', meat, grain, more = '', ground = wood, mat = straw, size = 26, glaze = '#f4efe6' }) {
  const at = s.places(random, 6, 60, 190, 140, 40)
  return scene(ground, mat, s.bowl(glaze, '#2f5d73', broth,
    s.noodles(random, 34, ['#fdf6e6', '#f4e6c8', '#fffaf0']) + s.slices(random, at, meat, grain, size) +
    s.rings(random, s.places(random, 16, 88), '#5ba33f') + s.leaves(random, s.places(random, 7, 80, 215, 160, 22), herb, 11) +
    s.chilli(random, s.places(random, 4, 75, 200, 150, 40)) + more) + s.chopsticks())
}

/** A pile on a plate. */
const onPlate = (ground, mat, contents, beside = '') => scene(ground, mat, s.plate('#fbf7ef', '#d8c7ad', contents) + beside)

/** Wheat noodles in a dark bowl. */
const wheat = (random, inside, contents, ground = slate, mat = linen) =>
  scene(ground, mat, s.bowl('#3b2b26', '#221713', inside, contents) + s.chopsticks())

const scoop = (x, y, radius, colour, light) => s.circle(x + 3, y + 4, radius, '#2a0f06', ' opacity=".2"') + s.circle(x, y, radius, colour) + s.ellipse(x - radius * 0.35, y - radius * 0.4, radius * 0.35, radius * 0.22, light, ' opacity=".8"')

/** A cup or a glass from above, on a saucer. */
const cup = (ground, mat, saucer, rim, drink, contents) =>
  scene(ground, mat, s.ellipse(208, 162, 146, 140, 'url(#s)') + s.circle(200, 150, 124, saucer) + s.circle(200, 150, 96, '#000', ' opacity=".09"') +
    s.circle(200, 150, 88, rim) + s.circle(200, 150, 78, '#000', ' opacity=".2"') + s.circle(200, 150, 76, drink) + contents +
    s.line('M134 112A76 76 0 0 1 168 80', '#fff', 4, ' opacity=".5"'))

const handle = (colour) => s.rect(276, 137, 56, 26, 13, colour) + s.rect(284, 145, 36, 10, 5, '#000', ' opacity=".2"')

/** Concentric lines of poured cream. */
const swirl = (colour, n = 4) => Array.from({ length: n }, (_, i) => s.line(`M${200 - 14 * (i + 1)} 152a${14 * (i + 1)} ${12 * (i + 1)} 0 1 1 ${22 * (i + 1)} ${9 * (i + 1)}`, colour, 5, ' opacity=".8"')).join('')

const ice = (random, n, radius = 52) => s.places(random, n, radius, 200, 150, 30).map(([x, y]) => s.turned(x, y, random(0, 90), s.rect(-15, -15, 30, 30, 7, '#fff', ' opacity=".42"') + s.rect(-11, -11, 16, 8, 4, '#fff', ' opacity=".6"'))).join('')

const roll = (x, y, angle, colour, dark, w = 92) =>
  s.turned(x, y, angle, s.rect(-w / 2 + 3, -13, w, 32, 14, '#2a0f06', ' opacity=".25"') + s.rect(-w / 2, -17, w, 32, 14, colour) + s.line(`M${-w / 2 + 10}-9Q0-15 ${w / 2 - 10}-9`, '#fff', 3, ' opacity=".4"') + s.line(`M${-w / 4}-15l12 28M${w / 8}-15l12 28`, dark, 2, ' opacity=".6"') + s.ellipse(w / 2 - 4, -1, 6, 13, dark))

/** A knife and a fork beside a plate. */
const cutlery = () =>
  s.rect(349, 60, 8, 180, 4, '#8f969b') + s.path('M349 64q-2 60 0 90h8V58q-6 0-8 6z', '#c3c9cd') +
  s.rect(44, 120, 7, 120, 3.5, '#8f969b') + [38, 46, 54].map((x) => s.rect(x, 58, 3.5, 46, 1.7, '#c3c9cd')).join('') + s.path('M38 98h19.5q-2 24-7 26h-6q-5-4-6.5-26z', '#c3c9cd')

const onTable = (ground, mat, contents, beside = '') => onPlate(ground, mat, contents, cutlery() + beside)

/** Chips in a heap. */
const chips = (random, n, x, y, radius = 34) =>
  s.places(random, n, radius, x, y, 8).map(([a, b]) => s.turned(a, b, random(0, 180), s.rect(-20, -2, 44, 9, 3, '#2a0f06', ' opacity=".2"') + s.rect(-22, -5, 44, 9, 3, '#e9b949') + s.rect(-20, -4, 38, 3, 1.5, '#f8dc8c'))).join('')

/** Slices of potato or cucumber. */
const rounds = (random, at, colour, edge, size = 15) =>
  at.map(([x, y]) => s.ellipse(x + 2, y + 4, size, size * 0.85, '#2a0f06', ' opacity=".2"') + s.ellipse(x, y, size, size * 0.85, edge) + s.ellipse(x, y - 1, size - 2.5, size * 0.85 - 2.5, colour)).join('')

/** A tall glass from above, on a coaster. */
const glass = (ground, mat, drink, contents) =>
  scene(ground, mat, s.ellipse(208, 164, 118, 112, 'url(#s)') + s.circle(200, 150, 100, '#e8ddc8') + s.circle(200, 150, 92, '#f7f1e4') +
    s.circle(200, 150, 74, '#fff', ' opacity=".9"') + s.circle(200, 150, 68, drink) + contents + s.line('M144 122A62 62 0 0 1 172 96', '#fff', 5, ' opacity=".7"'))

export const dishes = {
  1: (n) => onPlate(clay, linen, s.leaves(n, s.places(n, 14, 70, 165, 190, 18), herb, 20) +
    [[178, 105, -18], [226, 128, -18], [170, 152, -18], [222, 176, -18]].map(([x, y, a]) => roll(x, y, a, '#d98f35', '#a85f1c')).join('') + s.bits(n, s.places(n, 18, 70), ['#f0b95a', '#b86d22'], 3, 2), s.dip(318, 232, '#c9682c') + s.chilli(n, [[312, 228], [326, 238]])),
  2: (n) => onPlate(cream, green, [[150, 110], [205, 110], [260, 110], [150, 165], [205, 165], [260, 165]].map(([x, y], i) => s.turned(x - 5, y + 10, 78 + i * 4, s.rect(-34, -14, 70, 36, 14, '#2a0f06', ' opacity=".2"') + s.rect(-36, -19, 72, 36, 15, '#f7f1e2') + s.line('M-22-4h46', '#8b4a2c', 9, ' opacity=".75"') + s.line('M-22 6h44', '#5aa845', 6, ' opacity=".7"') + s.line('M-26-12Q0-16 26-12', '#fff', 3))).join('') + s.leaves(n, s.places(n, 8, 40, 205, 215, 12), herb, 14), s.dip(322, 238, '#b9631f')),
  3: (n) => onPlate(wood, cloth, s.strips(n, s.places(n, 90, 76), ['#dbe6a8', '#c4d98a', '#eef0c8'], 24, 4) + s.strips(n, s.places(n, 14, 62), ['#e8853a'], 18, 4) + s.slices(n, s.places(n, 6, 46, 200, 145, 26), '#6e2a1b', '#a5512f', 15) + s.bits(n, s.places(n, 26, 70), ['#d9a662', '#c08a42'], 5, 3.5) + s.leaves(n, s.places(n, 10, 66, 200, 150, 18), herb, 11) + s.chilli(n, s.places(n, 4, 60, 200, 150, 30))),
  4: (n) => pho(n, { meat: '#8d4a36', grain: '#d49a83' }),
  5: (n) => pho(n, { broth: '#e8c27a', meat: '#f3e2c3', grain: '#d5b583', mat: linen, ground: cream, size: 28, glaze: '#eef3f1' }),
  6: (n) => pho(n, { broth: '#b8742f', meat: '#6d3323', grain: '#b0694c', ground: clay, mat: straw, size: 22, more: s.rings(n, s.places(n, 34, 55, 200, 140), '#3f8f3a', 5) }),
  7: (n) => scene(slate, straw, s.bowl('#f4efe6', '#7d3b25', '#c98a3a', s.slices(n, s.places(n, 6, 50, 215, 135, 34), '#7a3a1e', '#c07a45', 24) + [[150, 170], [190, 205], [245, 190]].map(([x, y]) => scoop(x, y, 24, '#8a4522', '#c8874f')).join('') + s.cubes(n, s.places(n, 9, 85, 200, 150, 30), '#f1d9a0', '#fff', 15) + s.bits(n, s.places(n, 12, 80), ['#e06a2c'], 7, 5) + s.leaves(n, s.places(n, 6, 80, 200, 150, 30), herb, 11) + s.chilli(n, s.places(n, 4, 70, 200, 150, 40))) + s.leaves(n, s.places(n, 9, 34, 345, 60, 14), herb, 18)),
  8: (n) => pho(n, { broth: '#d1602f', meat: '#e9b27d', grain: '#c67a43', ground: blue, mat: linen, size: 20, more: s.places(n, 5, 70, 200, 150, 42).map(([x, y]) => s.turned(x, y, n(0, 360), s.path('M-20 8A22 22 0 0 1 20 8z', '#d8321f') + s.path('M-14 4A15 15 0 0 1 14 4z', '#ef6a4a'))).join('') + s.cubes(n, s.places(n, 5, 70, 200, 150, 40), '#e3a54a', '#f7d48b', 20) }),
  9: (n) => onPlate(slate, green, s.leaves(n, s.places(n, 34, 78, 200, 150, 12), ['#4a8b3a', '#6aaf4a', '#35702f'], 15) + s.strips(n, s.places(n, 22, 70), ['#8cc05a', '#5aa845'], 20, 3) + s.places(n, 9, 62, 200, 146, 34).map(([x, y]) => s.turned(x, y, n(0, 180), s.rect(-22, -12, 46, 30, 9, '#2a0f06', ' opacity=".25"') + s.rect(-24, -16, 46, 30, 9, '#e0a11f') + s.line('M-16-8Q0-14 15-8', '#ffe08a', 4) + s.line('M-14 6h26', '#b5730f', 2.5))).join('') + s.bits(n, s.places(n, 16, 70), ['#d9a662'], 5, 3.5), s.dip(320, 236, '#a98a86')),
  10: (n) => onPlate(clay, straw, s.circle(200, 150, 84, '#dfae5c') + s.rice(n, 210, 84, ['#f3d591', '#e8bf6a', '#fbe6b4', '#d59f45']) + s.slices(n, s.places(n, 6, 48, 195, 145, 30), '#7b3a26', '#b9714e', 19) + s.strips(n, s.places(n, 16, 62), ['#7d9433', '#a3b04a'], 12, 6) + s.rings(n, s.places(n, 10, 70), '#5ba33f', 4)),
  11: (n) => scene(cream, green, s.bowl('#eef3f1', '#6f8f6d', '#b9c978', s.bits(n, s.places(n, 110, 100), ['#cbd98f', '#a3b85c', '#dbe6ad'], 7, 3.5) + s.path('M120 140C140 90 220 80 250 120S270 190 220 190S110 190 120 140z', '#fffdf4', ' opacity=".9"') + s.line('M140 145Q190 110 240 150', '#e9e2c8', 5) + s.leaves(n, [[205, 140], [222, 150]], ['#3f7a36'], 24))),
  12: (n) => scene(blue, linen, s.bowl('#f4efe6', '#5b3a63', '#fdfaf3', s.path('M130 165C130 120 180 110 205 125S270 130 268 168S215 215 180 205S130 200 130 165z', '#3b1c40') + s.rice(n, 90, 58, ['#5a2d60', '#47204c', '#2d1231', '#6d3f72'], 200, 163) + s.line('M118 110Q160 88 210 96', '#efe8da', 7) + s.leaves(n, [[256, 112], [268, 124]], herb, 15))),
  13: (n) => cup(wood, cloth, '#f7f0e4', '#fffaf2', '#5b321b', s.circle(200, 150, 68, '#f0c766') + s.circle(200, 150, 60, '#f7d98a') + swirl('#fff3cf') + s.bits(n, s.places(n, 26, 44, 210, 140), ['#7d4a22', '#a5682f'], 2.4, 1.8) + handle('#fffaf2')),
  14: (n) => cup(cream, green, '#7a4b2a', '#e9f0e4', '#c9b75a', ice(n, 6) + s.places(n, 4, 44, 200, 150, 34).map(([x, y]) => scoop(x, y, 15, '#7f8f2c', '#c8d36f')).join('') + s.leaves(n, [[226, 118], [240, 126]], herb, 16) + s.strips(n, s.places(n, 5, 40), ['#e8cf7a'], 11, 4)),
  15: (n) => wheat(n, '#8a3a16', s.noodles(n, 26, ['#f0cf8a', '#e5bd70', '#f8dfa6'], 96, 8) + s.slices(n, s.places(n, 5, 52, 180, 140, 44), '#6b3019', '#b5764a', 29) + s.leaves(n, s.places(n, 6, 34, 255, 195, 16), herb, 19) + s.bits(n, s.places(n, 20, 28, 140, 205), ['#9aa53a', '#b9bf5a'], 7, 4) + s.rings(n, s.places(n, 18, 86), '#5ba33f') + s.chilli(n, s.places(n, 3, 60, 200, 150, 40))),
  16: (n) => wheat(n, '#c77a3a', s.noodles(n, 28, ['#f6dda0', '#eccb82', '#fbe9bf'], 96, 6) + s.bits(n, s.places(n, 70, 36, 195, 150), ['#7d4120', '#965427', '#5f2d14'], 6, 4) + s.shrimp(225, 105, 20) + s.strips(n, s.places(n, 14, 34, 145, 195), ['#f7f3e3', '#e9e2c8'], 14, 4) + s.leaves(n, s.places(n, 6, 30, 250, 190, 14), herb, 12), clay, straw),
  17: (n) => wheat(n, '#a8713a', s.noodles(n, 36, ['#e8bd7a', '#d9a75c', '#f2d09a'], 98, 7) + s.path('M150 130C160 100 230 96 250 128S235 185 200 180S140 165 150 130z', '#b98246') + s.line('M165 130Q200 108 235 132', '#dcae74', 5) + s.strips(n, s.places(n, 26, 40, 215, 190), ['#9ccb6a', '#d8eab4', '#6fae4a'], 16, 4) + s.bits(n, s.places(n, 40, 70), ['#fbf1da'], 2.4, 1.6), wood, green),
  18: (n) => wheat(n, '#f4ead6', s.rice(n, 170, 100, ['#fffdf6', '#f3ead6', '#fff']) + s.cubes(n, s.places(n, 30, 52, 190, 145, 17), '#7a3b1c', '#c98a58', 19) + s.bits(n, s.places(n, 26, 56, 190, 145), ['#c98f3f', '#e0b060'], 4, 2) + s.halfEgg(262, 190, 30) + s.leaves(n, s.places(n, 5, 18, 140, 215, 12), herb, 13), cream, cloth),
  19: (n) => wheat(n, '#f4ead6', s.rice(n, 170, 100, ['#fffdf6', '#f3ead6', '#fff']) + s.strips(n, s.places(n, 46, 56, 195, 145), ['#f3dfba', '#e3c690', '#fbeed4'], 22, 7) + s.bits(n, s.places(n, 34, 50), ['#b4742c', '#8f541b', '#d49a4a'], 5, 2.4) + s.circle(268, 190, 20, '#f0b429') + s.circle(268, 190, 14, '#f8cf63') + s.leaves(n, [[140, 205], [152, 214]], herb, 14), blue, straw),
  20: (n) => onPlate(clay, green, s.circle(203, 156, 68, '#2a0f06', ' opacity=".25"') + s.circle(200, 150, 67, '#c98d4a') + s.rice(n, 130, 64, ['#d9a662', '#b97a38', '#ecc88e']) + s.slices(n, [[185, 135], [218, 160]], '#6b3019', '#b5764a', 21) + [[175, 170], [222, 122]].map(([x, y]) => scoop(x, y, 17, '#5a3620', '#94643c')).join('') + s.line('M140 190Q190 225 262 185', '#d63a1e', 10, ' opacity=".9"') + s.leaves(n, s.places(n, 5, 22, 205, 105, 10), herb, 12)),
  21: (n) => scene(slate, linen, s.ellipse(208, 162, 146, 140, 'url(#s)') + s.circle(200, 150, 130, '#b88746') + s.circle(200, 150, 122, '#d8ab66') + s.circle(200, 150, 110, '#f0dcb2') + Array.from({ length: 12 }, (_, i) => s.line(`M${95 + i * 19} ${150 - Math.sqrt(108 ** 2 - (i * 19 - 105) ** 2)}V${150 + Math.sqrt(108 ** 2 - (i * 19 - 105) ** 2)}`, '#d9bd86', 3)).join('') + [[200, 150], ...Array.from({ length: 7 }, (_, i) => [200 + 68 * Math.cos(i * 0.898), 150 + 68 * Math.sin(i * 0.898)])].map(([x, y]) => s.circle(x + 2, y + 4, 29, '#2a0f06', ' opacity=".22"') + s.circle(x, y, 28, '#fdf6e9') + Array.from({ length: 10 }, (_, i) => s.line(`M${Math.round(x)} ${Math.round(y)}L${Math.round(x + 19 * Math.cos(i * 0.628 + 0.3))} ${Math.round(y + 19 * Math.sin(i * 0.628 + 0.3))}`, '#e0cdac', 2)).join('') + s.circle(x, y, 5, '#e9d6b4')).join('') + s.dip(338, 250, '#3a1a12') + s.strips(n, s.places(n, 6, 14, 338, 250), ['#f3d98a'], 9, 2.4)),
  22: (n) => onPlate(wood, green, s.path('M112 150C105 95 165 78 205 84S296 100 290 155S245 222 195 218S118 205 112 150z', '#f1d68a') + s.path('M128 150C125 112 170 98 205 102S274 118 270 155S235 200 195 198S132 190 128 150z', '#f7e6b4', ' opacity=".8"') + s.places(n, 8, 58, 200, 150, 32).map(([x, y]) => s.turned(x, y, n(0, 180), s.ellipse(0, 0, 17, 12, '#8c8577') + s.ellipse(-2, -2, 11, 7, '#cfc8b8'))).join('') + s.leaves(n, s.places(n, 9, 62, 200, 150, 24), herb, 15) + s.line('M130 175C165 120 190 200 215 140S262 165 272 135', '#d8452a', 11, ' opacity=".92"')),
  23: (n) => onPlate(clay, linen, s.places(n, 26, 72, 200, 150, 22).map(([x, y]) => s.turned(x, y, n(0, 180), s.ellipse(3, 5, 22, 17, '#2a0f06', ' opacity=".22"') + s.ellipse(0, 0, 21, 16, '#c9822f') + s.ellipse(-4, -4, 13, 8, '#e6ac57') + s.bits(n, s.places(n, 5, 12, 0, 0), ['#a3611c', '#f2cd8a'], 3, 2))).join('') + s.leaves(n, s.places(n, 13, 78, 200, 150, 26), ['#2f6a34', '#3f7f3a'], 14) + s.chilli(n, s.places(n, 5, 66, 200, 150, 30)) + s.bits(n, s.places(n, 40, 80), ['#3a2a1c', '#fff'], 1.6, 1.2)),
  24: (n) => onPlate(blue, straw, s.circle(203, 155, 86, '#2a0f06', ' opacity=".22"') + s.circle(200, 150, 85, '#e0aa53') + Array.from({ length: 6 }, (_, i) => s.line(`M${200 - 76 + i * 11} 150a${76 - i * 11} ${70 - i * 10} ${i * 20} 1 1 ${20} ${66 - i * 10}`, i % 2 ? '#c98a34' : '#f3d08a', 5, ' opacity=".8"')).join('') + s.bits(n, s.places(n, 26, 74), ['#a8661f'], 8, 4) + s.rings(n, s.places(n, 22, 74), '#4f9a3c', 4) + s.friedEgg(212, 150, 1.1)),
  25: (n) => scene(blue, linen, s.bowl('#eef6f7', '#9cc3cc', '#fbfdfd', s.circle(200, 150, 92, '#fff') + s.bits(n, s.places(n, 60, 96), ['#e3eff2', '#fff', '#d3e6ec'], 14, 7) + s.cubes(n, s.places(n, 24, 74, 200, 150, 24), '#f7a81b', '#ffdc83', 26) + scoop(200, 138, 33, '#ffb938', '#ffe3a0') + s.line('M130 120Q170 96 200 130T275 130', '#fffaf0', 6, ' opacity=".9"') + s.leaves(n, [[228, 112], [240, 120]], herb, 14))),
  26: (n) => scene(wood, cloth, s.bowl('#f4efe6', '#9b5b2c', '#c98a4a', s.places(n, 7, 58, 200, 150, 44).map(([x, y]) => s.turned(x, y, n(0, 180), s.ellipse(3, 5, 38, 26, '#2a0f06', ' opacity=".14"') + s.ellipse(0, 0, 38, 26, '#fffdf6') + s.ellipse(-8, -7, 18, 8, '#fff'))).join('') + s.bits(n, s.places(n, 34, 60, 205, 155), ['#e3bb80', '#cf9c58', '#f0d2a2'], 9, 6))),
  27: (n) => cup(cream, cloth, '#fbf7ef', '#efe9de', '#c99466', s.circle(200, 150, 70, '#d3a274') + swirl('#e9c9a2', 3) + s.places(n, 22, 56, 200, 156, 17).map(([x, y]) => s.circle(x, y, 9.5, '#2c1610') + s.ellipse(x - 3, y - 3, 3, 2, '#8a6350')).join('') + s.turned(222, 128, 30, s.rect(-9, -96, 18, 104, 9, '#c0392b') + s.rect(-4, -94, 4, 98, 2, '#fff', ' opacity=".5"'))),
  28: (n) => cup(slate, straw, '#8a5a34', '#f2ede2', '#c9912f', s.circle(190, 140, 52, '#dba84a', ' opacity=".7"') + s.leaves(n, s.places(n, 5, 46, 205, 160, 24), ['#4c5a2a', '#66743a'], 15) + s.line('M150 130q10-14 26-18', '#fff', 4, ' opacity=".6"') + s.leaves(n, s.places(n, 7, 22, 58, 60, 9), ['#3f4a24', '#55622e'], 11)),

  // Two dishes are shown with the picture of the dish that they resemble.
  29: () => dishes[27](s.chance(27)),
  30: () => dishes[7](s.chance(7)),
  31: (n) => scene(wood, linen, s.bowl('#f7f1e4', '#7a5a34', '#e3c06d', s.cubes(n, s.places(n, 16, 82, 200, 150, 24), '#efd58d', '#fbeebb', 18) + rounds(n, s.places(n, 9, 78, 200, 150, 30), '#f08a3c', '#d96f22', 8) + s.cubes(n, s.places(n, 8, 44, 205, 145, 20), '#b9793a', '#e2b071', 17) + s.leaves(n, s.places(n, 16, 80), herb, 7))),
  32: (n) => onTable(slate, cloth, rounds(n, s.places(n, 16, 38, 240, 128, 14), '#f3e0a0', '#e0c474') + s.rings(n, s.places(n, 12, 36, 240, 128), '#5ba33f') + scoop(165, 165, 42, '#7a4320', '#b77a48') + s.strips(n, s.places(n, 16, 28, 163, 163), ['#5b2e14'], 8, 3) + s.ellipse(226, 198, 26, 15, '#d9a520') + s.ellipse(220, 194, 13, 6, '#f2cf5a')),
  33: (n) => onTable(cream, green, s.ellipse(200, 152, 86, 74, '#efe3c2') + [[165, 130], [215, 118], [196, 172], [244, 160]].map(([x, y]) => scoop(x, y, 25, '#d8c3a0', '#f3e6cf')).join('') + s.path('M138 146C150 100 240 88 268 132S236 206 194 200S128 182 138 146z', '#f6ecd2', ' opacity=".55"') + s.bits(n, s.places(n, 24, 66, 200, 150), ['#6f7f3a', '#55662b'], 5, 4.5) + rounds(n, [[142, 196], [166, 212]], '#8d1f4a', '#6e1438', 16) + s.leaves(n, s.places(n, 7, 60), herb, 8)),
  34: (n) => onTable(wood, linen, s.path('M118 148C112 92 176 74 222 88S296 128 270 172S186 222 146 204S120 182 118 148z', '#2a0f06', ' opacity=".2"') + s.path('M116 142C110 86 174 68 220 82S294 122 268 166S184 216 144 198S118 176 116 142z', '#c8832b') + s.path('M128 142C124 98 178 82 218 94S280 126 258 160S184 202 150 188S130 170 128 142z', '#dda046') + s.bits(n, s.places(n, 80, 62, 192, 142), ['#b8701f', '#eebc68', '#a8621a'], 5, 3) + s.circle(206, 132, 22, '#f2cd3a') + s.circle(206, 132, 18, '#fbe98c') + s.line('M206 116v32M190 132h32M195 121l22 22M217 121l-22 22', '#f2cd3a', 2) + s.leaves(n, s.places(n, 6, 18, 160, 196, 8), herb, 13)),
  35: (n) => onTable(blue, straw, chips(n, 20, 160, 120, 40) + s.places(n, 11, 46, 222, 172, 24).map(([x, y]) => s.turned(x, y, n(0, 180), s.ellipse(3, 5, 19, 15, '#2a0f06', ' opacity=".2"') + s.ellipse(0, 0, 18, 14, '#8a3f22') + s.ellipse(0, -2, 14, 10, '#c8805a'))).join('') + s.path('M178 172C186 138 252 134 268 166S242 214 214 208S172 200 178 172z', '#c0311d', ' opacity=".85"') + s.bits(n, s.places(n, 40, 42, 222, 172), ['#e2a93a', '#d8902a'], 3, 2)),
  36: (n) => scene(clay, linen, s.bowl('#3b2b26', '#221713', '#e9c25c', s.strips(n, s.places(n, 130, 96), ['#f6dd92', '#eac96a', '#fbeab4'], 15, 8) + s.path('M140 132C160 96 236 92 262 128S244 196 200 196S124 168 140 132z', '#f7d870', ' opacity=".5"') + s.strips(n, s.places(n, 44, 52, 200, 146), ['#8d5220', '#b8742f', '#6d3c14'], 11, 4) + s.rings(n, s.places(n, 22, 70), '#5ba33f'))),
  37: (n) => onTable(cream, cloth, s.ellipse(178, 152, 62, 58, '#efe3c2') + [[156, 132], [196, 126], [172, 172]].map(([x, y]) => scoop(x, y, 22, '#d8c3a0', '#f3e6cf')).join('') + s.bits(n, s.places(n, 14, 44, 176, 150), ['#6f7f3a', '#55662b'], 4.5, 4) + rounds(n, s.places(n, 8, 26, 250, 170, 13), '#f3e0a0', '#e0c474', 13) + s.leaves(n, s.places(n, 6, 22, 246, 118, 8), herb, 13), s.circle(322, 70, 40, '#fff', ' opacity=".9"') + s.circle(322, 70, 35, '#e2b53c') + s.circle(318, 66, 26, '#f0cb62', ' opacity=".8"')),
  38: (n) => scene(slate, linen, s.bowl('#f7f4ee', '#b9b0a0', '#8f1230', s.circle(200, 150, 100, '#a3183a') + s.places(n, 34, 88, 200, 150, 20).map(([x, y], i) => scoop(x, y, n(8, 12), ['#5e0c22', '#c22448', '#3b1236'][i % 3], '#e8728c')).join('') + s.path('M132 138C150 92 238 96 262 132S250 190 214 176S148 196 132 138z', '#fbf0c4') + s.path('M150 136C166 108 230 110 248 136S230 166 206 160S156 166 150 136z', '#fff7da') + s.leaves(n, [[210, 126], [224, 132]], herb, 13))),
  39: (n) => onTable(blue, cloth, s.turned(180, 150, -14, s.rect(-66, -30, 138, 68, 20, '#2a0f06', ' opacity=".2"') + s.rect(-70, -36, 138, 68, 20, '#d59a4a') + s.rect(-62, -32, 122, 18, 9, '#ecc07c') + [-44, -16, 12, 40].map((x) => s.line(`M${x}-34l10 64`, '#b3762c', 2.5, ' opacity=".7"')).join('') + s.ellipse(64, -2, 14, 28, '#f2dfae') + s.ellipse(64, 2, 8, 18, '#d9b05a')) + s.bits(n, s.places(n, 60, 60, 180, 140), ['#fff', '#fdf8ee'], 3, 2.5) + s.circle(258, 196, 30, '#f1ece0') + s.circle(256, 193, 27, '#fffdf6') + s.line('M240 194a16 14 0 1 1 28 8', '#e8dfc9', 4)),
  40: (n) => glass(cream, green, '#d9a93a', ice(n, 4, 40) + s.bits(n, s.places(n, 60, 60), ['#fff6d2', '#f6dc8a'], 2.5, 2.5) + s.path('M222 118a30 30 0 0 1 20 48q-26-14-20-48z', '#e9efc0') + s.line('M222 118a30 30 0 0 1 20 48', '#b5322a', 4)),
  41: (n) => glass(slate, straw, '#e0a92e', s.circle(200, 150, 66, '#fff8e6') + s.bits(n, s.places(n, 90, 60), ['#fff', '#f3e6c4', '#ece0bd'], 7, 6)),
  42: (n) => cup(wood, linen, '#f2efe8', '#fffdf8', '#3a1f12', s.circle(200, 150, 72, '#4a2917') + s.circle(192, 142, 50, '#5d3620', ' opacity=".6"') + s.bits(n, s.places(n, 10, 58), ['#8a5a34'], 4, 3) + handle('#f2efe8')),
}
