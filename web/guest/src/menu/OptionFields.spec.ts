import { afterEach, beforeEach, expect, test } from 'vitest'
import { createApp, nextTick, ref, type App, type Ref } from 'vue'

import { setLanguage } from '@shared/i18n'
import { wired, type Choice, type Option, type OptionGroup } from '@shared/options'

import OptionFields from './OptionFields.vue'

const option = (id: string, name: string, price: number, change: Partial<Option> = {}): Option => ({
  id, name, price, isDefault: false, isAvailable: true, ...change,
})
const group = (id: string, name: string, options: Option[], change: Partial<OptionGroup> = {}): OptionGroup => ({
  id, kind: 'CHOICE', name, min: 0, max: null, free: 0, maxEach: 1, credit: false, defaultsCharge: true, options, ...change,
})
const groups = [
  group('1', 'Size', [option('1', 'M', 35_000), option('2', 'L', 45_000)], { kind: 'SIZE', min: 1, max: 1 }),
  group('2', 'Toppings', [option('3', 'Pearls', 5000), option('4', 'Pudding', 5000, { isAvailable: false })], { max: 3, maxEach: 2, free: 1 }),
  group('3', 'Milk', [option('5', 'Oat', 3000, { groups: [group('4', 'Warm', [option('6', 'Warm', 0), option('7', 'Cold', 0)], { min: 1, max: 1 })] }), option('8', 'Soy', 0)], { max: 1 }),
]

let app: App
let page: HTMLElement
let choices: Ref<Choice[]>

beforeEach(async () => {
  await setLanguage('en')
  choices = ref<Choice[]>([])
  page = document.body.appendChild(document.createElement('main'))
  app = createApp({
    components: { OptionFields }, setup: () => ({ choices, groups }),
    template: '<OptionFields v-model="choices" :groups="groups" currency="VND" missing="-1" />',
  })
  app.mount(page)
})
afterEach(() => {
  app.unmount()
  page.remove()
})

const field = (name: string) =>
  [...page.querySelectorAll('label')].find((l) => l.textContent.includes(name))?.querySelector('input') as HTMLInputElement
const press = async (name: string) => {
  field(name).click()
  await nextTick()
}
const more = async (name: string) => {
  page.querySelector<HTMLElement>(`[aria-label="One more: ${name}"]`)?.click()
  await nextTick()
}

test('each group states its rule, and has the fields that suit it', () => {
  const legends = [...page.querySelectorAll('legend')].map((l) => l.textContent.replace(/\s+/g, ' ').trim())
  expect(legends, 'legends').toEqual(['Size choose 1', 'Toppings up to 3, first one free', 'Milk up to 1'])
  expect([field('M').type, field('Oat').type], 'types of the fields').toEqual(['radio', 'checkbox'])
  expect(page.querySelector('[aria-label="Quantity: Pearls"]'), 'stepper of the pearls').not.toBeNull()
  expect(page.textContent.replace(/\s+/g, ' '), 'a sold-out option says so').toContain('Pudding Sold out')
  expect(page.querySelector('[aria-label="Quantity: Pudding"]'), 'stepper of a sold-out option').toBeNull()
  expect(page.querySelector('#group-1')?.className, 'the missing group').toContain('missing')
})

test('a size replaces another one, and toppings add up to their limits', async () => {
  await press('M')
  await press('L')
  for (let i = 0; i < 4; i++) await more('Pearls')
  expect(wired(choices.value), 'choices').toEqual([{ optionId: '2', qty: 1 }, { optionId: '3', qty: 2 }])
})

test('the second level appears below its option, and goes with it', async () => {
  await press('Oat')
  expect(page.querySelector('#group-3-5-4 legend')?.textContent, 'legend below').toContain('Warm')
  await press('Cold')
  expect(wired(choices.value), 'with its second level').toEqual([{ optionId: '5', qty: 1, options: [{ optionId: '7', qty: 1 }] }])
  await press('Soy')
  expect(page.querySelector('#group-3-5-4'), 'second level of a replaced option').toBeNull()
  await press('Soy')
  expect(choices.value, 'after the box was cleared').toEqual([])
})
