import { beforeEach, expect, test, vi } from 'vitest'
import { createApp, nextTick, shallowRef } from 'vue'

import type { Pricing } from './pricing'
import { usePricingForm } from './usePricingForm'

const sure = vi.hoisted(() => vi.fn<() => Promise<string | undefined>>())
const branchId = await vi.hoisted(async () => (await import('vue')).ref('A'))
vi.mock('../shell/branch', () => ({ branchId, changeBranch: (id: string) => { branchId.value = id } }))
vi.mock('../shell/notices', () => ({ confirm: sure }))
vi.mock('vue-router', () => ({ onBeforeRouteLeave: () => undefined }))

const pricing = (percent: string) => ({ rates: [{ code: 'VAT', percent }], rules: [], serviceCharges: [], discounts: [] }) as unknown as Pricing
const now = shallowRef<Pricing | undefined>()
const sent = (page: ReturnType<typeof usePricingForm>) => JSON.stringify(page.form.value)
const settle = async () => { for (let n = 0; n < 5; n++) await nextTick() }

beforeEach(() => {
  branchId.value = 'A'
  now.value = pricing('5')
  sure.mockReset()
})

/** A page with the form of branch A, in which a rate was changed. */
function edited() {
  let page!: ReturnType<typeof usePricingForm>
  const app = createApp({ setup: () => { page = usePricingForm(now, () => true) }, render: () => null })
  app.mount(document.createElement('div'))
  const percent = () => page.form.value?.rates[0]?.percent
  expect([page.owner.value, percent(), page.changed.value]).toEqual(['A', '5', false])
  const rate = page.form.value?.rates[0]
  if (rate) rate.percent = '8'
  return { page, percent, close: () => { app.unmount() } }
}

test('a reload keeps what was edited', async () => {
  const { page, percent, close } = edited()
  now.value = pricing('6')
  await settle()
  expect([percent(), page.changed.value]).toEqual(['8', true])
  close()
})

test('edits of one branch never become those of another', async () => {
  sure.mockResolvedValue('yes')
  const { page, percent, close } = edited()
  branchId.value = 'B'
  now.value = undefined // still loading
  await settle()
  expect(page.form.value).toBeUndefined()
  page.saved('A', pricing('8'), sent(page)) // a late answer
  expect(page.form.value).toBeUndefined()
  now.value = pricing('10')
  await settle()
  expect([page.owner.value, percent(), page.changed.value]).toEqual(['B', '10', false])
  page.saved('A', pricing('8'), sent(page))
  expect([page.owner.value, percent()]).toEqual(['B', '10'])
  page.saved('B', pricing('12'), sent(page))
  expect([page.owner.value, percent()]).toEqual(['B', '12'])
  close()
})

test('another branch is not shown if the edits are to be kept', async () => {
  sure.mockResolvedValue(undefined)
  const { page, percent, close } = edited()
  branchId.value = 'B'
  now.value = pricing('10') // cached
  await settle()
  now.value = pricing('5')
  await settle()
  expect(sure).toHaveBeenCalledOnce()
  expect([branchId.value, page.owner.value, percent(), page.changed.value]).toEqual(['A', 'A', '8', true])
  close()
})

test('the window asks before it closes with unsaved edits', async () => {
  const { page, close } = edited()
  const closes = () => dispatchEvent(new Event('beforeunload', { cancelable: true }))
  expect(closes()).toBe(false)
  page.saved('A', pricing('8'), sent(page))
  await settle()
  expect(closes()).toBe(true)
  close()
})

test('an edit made while the form is saved stays, and is not saved yet', async () => {
  const { page, percent, close } = edited()
  const before = sent(page)
  const rate = page.form.value?.rates[0]
  if (rate) rate.percent = '9'
  page.saved('A', pricing('8'), before)
  expect([percent(), page.changed.value]).toEqual(['9', true])
  now.value = pricing('8') // read again
  await settle()
  expect(percent()).toBe('9')
  if (page.form.value?.rates[0]) page.form.value.rates[0].percent = '8'
  expect(page.changed.value).toBe(false)
  close()
})
