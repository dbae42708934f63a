import { mount } from '@vue/test-utils'
import { beforeAll, expect, test, vi } from 'vitest'
import { h, nextTick, type Slots } from 'vue'

import { changeLanguage } from '../shell/i18n'
import type { DiscountKind } from './pricing'
import DiscountDialog from './DiscountDialog.vue'
import ValueField from './ValueField.vue'

const sent = vi.hoisted(() => vi.fn())
vi.mock('../shell/session', () => ({ api: { PUT: sent }, can: () => true }))
vi.mock('../shell/formDo', () => ({
  useFormDo: (_: unknown, prepare: () => () => unknown) => ({ isPending: { value: false }, mutate: () => { prepare()() } }),
}))
vi.mock('./useDiscounts', async () => {
  const { ref } = await import('vue')
  const kinds = [{ code: 'P', names: {}, type: 'PERCENT' }, { code: 'A', names: {}, type: 'AMOUNT' }] as DiscountKind[]
  return { useDiscounts: () => ({ asked: { data: ref({}) }, kinds: ref(kinds) }) }
})

// A field of Vuetify as far as these tests need it.
const field = vi.hoisted(() => async () => {
  const { h } = await import('vue')
  type Emit = (name: string, value: string) => void
  return {
    props: { modelValue: String, error: Boolean }, emits: ['update:modelValue'],
    setup: (props: { modelValue?: string; error: boolean }, { emit }: { emit: Emit }) => () => h('input', {
      value: props.modelValue, class: { bad: props.error }, onInput: (e: Event) => { emit('update:modelValue', (e.target as HTMLInputElement).value) },
    }),
  }
})
vi.mock('vuetify/components/VTextField', async () => ({ VTextField: await field() }))
vi.mock('vuetify/components/VTextarea', async () => ({ VTextarea: await field() }))
vi.mock('vuetify/components/VSelect', async () => ({ VSelect: await field() }))
vi.mock('vuetify/components/VBtn', () => ({ VBtn: {} }))
vi.mock('vuetify/components/VAlert', () => ({ VAlert: {} }))
vi.mock('../shell/FormDialog.vue', () => ({
  default: {
    props: { valid: Boolean }, emits: ['submit'],
    setup: (props: { valid: boolean }, { slots, emit }: { slots: Slots; emit: (name: string) => void }) =>
      () => h('form', { class: { valid: props.valid }, onSubmit: () => { emit('submit') } }, slots.default?.()),
  },
}))

beforeAll(async () => { await changeLanguage('en') })

async function dialog(currency = 'VND') {
  const page = mount(DiscountDialog, { props: { order: { id: '7', branchId: '1', number: 'A1', currency }, open: true }, global: { stubs: { 'router-link': true } } })
  await nextTick()
  const choose = (code: string) => page.findAll('input')[0]?.setValue(code)
  const type = (text: string) => page.findComponent(ValueField).get('input').setValue(text)
  const state = () => [page.findComponent(ValueField).get('input').element.value, page.get('form').classes('valid')]
  return { page, choose, type, state }
}

test('a percentage does not become an amount', async () => {
  const { choose, type, state } = await dialog()
  await choose('P')
  await type('10')
  expect(state()).toEqual(['10', true])
  await choose('A')
  expect(state()).toEqual(['', false])
  await type('20000')
  await choose('P')
  expect(state()).toEqual(['', false])
})

test.each([['VND', '20000', '20000x'], ['USD', '100', '100.000']])('in %s, %s is not saved in place of %s', async (currency, good, bad) => {
  const { page, choose, type, state } = await dialog(currency)
  await choose('A')
  await type(good)
  expect(state()).toEqual([good, true])
  await type(bad)
  expect(state(), 'the text stays').toEqual([bad, false])
  expect(page.findAll('.bad')).toHaveLength(1)
  await type(good)
  await page.get('form').trigger('submit')
  expect(sent).toHaveBeenLastCalledWith('/api/orders/{id}/discount', { params: { path: { id: '7' } }, body: { code: 'A', amount: currency === 'USD' ? 10_000 : 20_000 } })
})

test('a row of a form keeps the text that is no amount, and shows another amount', async () => {
  const row = mount(ValueField, { props: { type: 'AMOUNT', currency: 'VND', amount: 20_000 } })
  const text = () => row.get('input').element.value
  await row.get('input').setValue('20000x')
  expect(row.emitted('change')).toEqual([['20000x']])
  await row.setProps({ amount: undefined })
  expect(text()).toBe('20000x')
  await row.setProps({ amount: 5000 })
  expect(text()).toBe('5000')
})
