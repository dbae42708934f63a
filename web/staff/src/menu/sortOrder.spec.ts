import { expect, test } from 'vitest'

import { moved, type Sortable } from './sortOrder'

const list = (...sorts: number[]): Sortable[] => sorts.map((sort, n) => ({ id: 'abcdef'[n] ?? '', sort }))

/** The order of a list after some moves. Equal sort numbers are ordered by id, as on the server. */
function shown(all: Sortable[], changes: Sortable[]): string {
  const now = all.map((p) => changes.find((c) => c.id === p.id) ?? p)
  return [...now].sort((x, y) => x.sort - y.sort || x.id.localeCompare(y.id)).map((p) => p.id).join('')
}

test.each([
  ['up', list(10, 20, 30), 'b', -1, 'bac', 2],
  ['down', list(10, 20, 30), 'b', 1, 'acb', 2],
  ['up at the beginning', list(10, 20), 'a', -1, 'ab', 0],
  ['down at the end', list(10, 20), 'b', 1, 'ab', 0],
  ['among equals', list(0, 0, 0), 'c', -1, 'acb', 3],
  ['among some equals', list(1, 2, 2, 7), 'd', -1, 'abdc', 2],
  ['what is not there', list(1, 2), 'z', 1, 'ab', 0],
] as const)('%s', (_, all, id, by, want, changes) => {
  const moves = moved(all, id, by)
  expect(shown(all, moves)).toBe(want)
  expect(moves.length).toBe(changes)
})

test('many consecutive moves lead to the right order', () => {
  let all = list(5, 5, 5, 5, 5, 5)
  for (let i = 0; i < 5; i++) {
    const changes = moved(all, 'f', -1)
    all = all.map((p) => changes.find((c) => c.id === p.id) ?? p).sort((x, y) => x.sort - y.sort || x.id.localeCompare(y.id))
  }
  expect(all.map((p) => p.id).join('')).toBe('fabcde')
})
