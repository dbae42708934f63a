import { mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { h } from 'vue'

import { setLanguage } from '@shared/i18n'

import { ready } from '../texts'
import FormField from './FormField.vue'

beforeEach(async () => {
  await ready()
  await setLanguage('en')
})
afterEach(() => {
  document.body.replaceChildren()
})

/** A form with a name and an e-mail address. `send` sends it like a press on its button, and reports whether it was sent. */
function form() {
  let sent = false
  const field = (id: string, attributes: object) => h(FormField, { id, label: id, modelValue: '', required: true, ...attributes })
  mount({
    render: () => h('form', { onSubmit: (e: Event) => { e.preventDefault(); sent = true } }, [
      field('name', { autocomplete: 'name' }), field('email', { type: 'email', rule: 'Like lan@house.example.' }), h('button', 'Go'),
    ]),
  }, { attachTo: document.body })
  const find = (selector: string) => document.querySelector<HTMLInputElement>(selector) as HTMLInputElement
  return {
    find,
    async type(id: string, text: string) {
      find(`#${id}`).value = text
      find(`#${id}`).dispatchEvent(new Event('input'))
      await Promise.resolve()
    },
    async send() {
      sent = false
      find('button').click()
      await Promise.resolve()
      return sent
    },
    problem: (id: string) => document.getElementById(`${id}-wrong`)?.textContent,
  }
}

test('a form says in the language of the app what is missing, and where', async () => {
  const { find, type, send, problem } = form()
  expect(await send()).toBe(false)
  expect([problem('name'), problem('email')]).toEqual(['Please fill in this field.', 'Please fill in this field.'])
  expect(find('#name').getAttribute('aria-invalid')).toBe('true')
  expect(find('#name').getAttribute('aria-describedby')).toBe('name-wrong')
  expect(document.activeElement?.id).toBe('name')
  await setLanguage('zh-Hant')
  expect(problem('name')).toBe('請填寫此欄位。')

  await type('name', '陳美玲')
  expect(problem('name')).toBeUndefined()
  expect(problem('email')).toBe('請填寫此欄位。')
  await type('email', 'mei')
  expect(problem('email')).toBe('Like lan@house.example.')
  expect(await send()).toBe(false)
  expect(document.activeElement?.id).toBe('email')
  await type('email', 'mei@house.example')
  expect(await send()).toBe(true)
})
