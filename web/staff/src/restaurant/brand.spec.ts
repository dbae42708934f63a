import { expect, test } from 'vitest'
import { nextTick, shallowRef } from 'vue'

import { changesOf, formOf, isColour, type Brand } from './brand'
import { useBrandForm } from './useBrandForm'

const brand: Brand = {
  name: 'Quán Hoa', accent: '#0b6e4f', palette: null, logo: null, cover: null, address: '', phone: '',
  welcomeTitle: { vi: 'Xin chào' }, welcomeText: {},
}

test('a form sends only changed fields', () => {
  const form = formOf(brand)
  expect(changesOf(form, brand)).toEqual({})
  form.name = ' Quán Hoa ' // surrounding blanks are no change
  form.welcomeText.en = '   '
  expect(changesOf(form, brand)).toEqual({})
  form.accent = ''
  form.welcomeTitle.en = 'Hello'
  expect(changesOf(form, brand)).toEqual({ accent: '', welcomeTitle: { vi: 'Xin chào', en: 'Hello' } })
  form.welcomeTitle.vi = ''
  expect(changesOf(form, brand).welcomeTitle).toEqual({ en: 'Hello' })
})

test('editing a form does not change the brand', () => {
  formOf(brand).welcomeTitle.vi = 'Chào'
  expect(brand.welcomeTitle.vi).toBe('Xin chào')
})

test('what a colleague has changed since is no change of the form', async () => {
  const now = shallowRef<Brand>()
  const { form, changed, fill } = useBrandForm(now)
  expect([form.value, changed.value]).toEqual([undefined, {}])
  now.value = brand
  await nextTick()
  if (form.value) form.value.name = 'Quán Sen'
  now.value = { ...brand, phone: '+84 24 3826 8888' }
  await nextTick()
  expect(changed.value).toEqual({ name: 'Quán Sen' })
  fill({ ...now.value, name: 'Quán Sen' }) // the answer to Save
  expect([form.value?.phone, changed.value]).toEqual(['+84 24 3826 8888', {}])
})

test.each([['#0b6e4f', true], ['#0B6E4F', true], ['0b6e4f', false], ['#0b6e4', false], ['', false], ['red', false]])('%s', (text, good) => {
  expect(isColour(text)).toBe(good)
})
