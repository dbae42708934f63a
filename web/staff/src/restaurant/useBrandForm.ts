import { computed, ref, shallowRef, watch, type Ref } from 'vue'

import { changesOf, formOf, type Brand, type Form } from './brand'

/**
 * The form of the brand and its changes. They are compared with the brand that filled the form: what a colleague has changed
 * since is no change of this form.
 */
export function useBrandForm(brand: Ref<Brand | undefined>) {
  const form = ref<Form>()
  const source = shallowRef<Brand>()
  function fill(b: Brand) {
    form.value = formOf(b)
    source.value = b
  }
  // Later responses, such as after a picture was uploaded, must not overwrite the user's input.
  watch(brand, (b) => {
    if (b && !form.value) fill(b)
  }, { immediate: true })
  const changed = computed(() => (form.value && source.value ? changesOf(form.value, source.value) : {}))
  return { form, changed, fill }
}
