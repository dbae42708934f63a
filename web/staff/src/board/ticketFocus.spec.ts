import { afterEach, beforeEach, expect, test } from 'vitest'

import { keepFocus } from './ticketFocus'

const card = (id: string) => `<article data-ticket="${id}" tabindex="-1"><button>${id}</button></article>`
const wall = () => document.querySelector('main')
const part = (name: string) => document.querySelector(`#${name}`) as HTMLElement
const focused = () => (document.activeElement as HTMLElement).dataset.ticket

beforeEach(() => {
  document.body.innerHTML = `<main><div id="new">${card('1')}${card('2')}${card('3')}</div><div id="ready"></div></main>`
  document.querySelector<HTMLElement>('[data-ticket="2"] button')?.focus()
})
afterEach(() => { document.body.replaceChildren() })

const remove = (id: string) => { document.querySelector(`[data-ticket="${id}"]`)?.remove() }

test('the focus follows a ticket into its next column', async () => {
  await keepFocus(wall, '2', async () => {
    remove('2')
    part('ready').innerHTML = card('2')
    await Promise.resolve()
  })
  expect(focused()).toBe('2')
})

test('without the ticket, its neighbour gets the focus', async () => {
  await keepFocus(wall, '2', async () => {
    remove('2')
    await Promise.resolve()
  })
  expect(focused()).toBe('3')
  await keepFocus(wall, '3', async () => {
    remove('3')
    await Promise.resolve()
  })
  expect(focused()).toBe('1')
})

test('a focus that was not lost stays', async () => {
  const button = document.querySelector<HTMLElement>('[data-ticket="1"] button')
  await keepFocus(wall, '2', async () => {
    button?.focus()
    remove('2')
    await Promise.resolve()
  })
  expect(document.activeElement).toBe(button)
})
