import { mount } from '@vue/test-utils'
import { expect, test } from 'vitest'

import OrderText from './OrderText.vue'

test('the numbers of orders stay whole, and the text is unchanged', () => {
  const shown = mount(OrderText, { props: { text: 'Late: A-003, AB-120' } })
  expect(shown.findAll('.whole').map((w) => w.text())).toEqual(['A-003', 'AB-120'])
  expect(shown.text()).toBe('Late: A-003, AB-120')
})

test('a text without a number is one part', () => {
  const shown = mount(OrderText, { props: { text: 'x-ray, B-52' } })
  expect(shown.findAll('.whole')).toEqual([])
  expect(shown.text()).toBe('x-ray, B-52')
})
