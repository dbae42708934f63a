import { mount } from '@vue/test-utils'
import { afterEach, expect, test } from 'vitest'
import { h, nextTick, ref } from 'vue'

import { focusIn, useFocusReturn } from './focus'

afterEach(() => {
  document.body.replaceChildren()
})

/** A page with a button, and a dialog that takes the focus while it is open. */
function page() {
  document.body.innerHTML = '<main id="main" tabindex="-1"><button>Add</button></main><div class="v-menu" id="menu-1"><a href="#">Edit</a></div>'
  const open = ref(false)
  const dialog = mount({
    setup() {
      useFocusReturn(() => open.value)
      return () => h('div', { role: 'dialog' }, open.value ? [h('input')] : [])
    },
  }, { attachTo: document.body })
  const find = (selector: string) => document.querySelector<HTMLElement>(selector) as HTMLElement
  return {
    dialog, find,
    async show(is: boolean) {
      open.value = is
      await nextTick()
      if (is) find('input').focus()
      await nextTick()
    },
  }
}

test('the focus returns to the button that opened a dialog', async () => {
  const { find, show } = page()
  find('button').focus()
  await show(true)
  expect(document.activeElement).toBe(find('input'))
  await show(false)
  expect(document.activeElement).toBe(find('button'))
})

test('the button of a menu gets the focus, because the menu has closed', async () => {
  const { find, show } = page()
  find('button').setAttribute('aria-controls', 'menu-1')
  find('a').focus()
  await show(true)
  find('.v-menu').remove()
  await show(false)
  expect(document.activeElement).toBe(find('button'))
})

test('without the button, the content gets the focus', async () => {
  const { find, show } = page()
  find('button').focus()
  await show(true)
  find('button').remove()
  await show(false)
  expect(document.activeElement).toBe(find('#main'))
})

test('a dialog that is removed returns the focus too', async () => {
  const { dialog, find, show } = page()
  find('button').focus()
  await show(true)
  dialog.unmount()
  await nextTick()
  expect(document.activeElement).toBe(find('button'))
})

test('a focus that was moved on purpose stays', async () => {
  const { find, show } = page()
  const other = document.createElement('button')
  document.body.append(other)
  find('button').focus()
  await show(true)
  other.focus()
  await show(false)
  expect(document.activeElement).toBe(other)
})

test('a field that a button has added gets the focus, and its neighbour when it is removed', async () => {
  document.body.innerHTML = '<ul><li><input></li><li><input id="last"></li></ul>'
  const list = () => document.querySelector('ul')
  await focusIn(list, 'input')
  expect(document.activeElement?.id).toBe('last')
  document.getElementById('last')?.remove()
  await focusIn(list, 'input')
  expect(document.activeElement).toBe(document.querySelector('input'))
})
