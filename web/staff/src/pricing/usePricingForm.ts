import { computed, ref, watch, type Ref } from 'vue'

import { branchId, changeBranch } from '../shell/branch'
import { t } from '../shell/i18n'
import { useUnsaved } from '../shell/unsaved'
import { formOf, type Form, type Pricing } from './pricing'

/**
 * The form for the pricing of one branch. Its edits stay while the pricing is reloaded, and never become those of another
 * branch: leaving the page or the branch with unsaved edits asks first. `now` is the pricing of the shown branch.
 */
export function usePricingForm(now: Ref<Pricing | undefined>, editable: () => boolean) {
  const form = ref<Form>()
  const stored = ref('')
  const owner = ref('') // the form's branch
  const changed = computed(() => form.value !== undefined && JSON.stringify(form.value) !== stored.value)
  const mayLeave = useUnsaved(() => editable() && changed.value, () => ({ title: t('pricing.leave'), action: t('pricing.discard') }))

  function fill(p: Pricing) {
    owner.value = branchId.value
    form.value = formOf(p)
    stored.value = JSON.stringify(form.value)
  }
  function take() {
    if (!now.value || (form.value && (owner.value !== branchId.value || changed.value))) return
    fill(now.value)
  }
  // After a switch of the branch, `now` is that of the new one only once all watchers have run.
  watch(now, take, { immediate: true, flush: 'post' })
  watch(branchId, async (id) => {
    if (!form.value || id === owner.value) return
    if (!(await mayLeave())) {
      changeBranch(owner.value)
      if (branchId.value === owner.value) return
    }
    form.value = undefined
    take()
  }, { flush: 'post' })

  return {
    form, stored, owner, changed,
    /**
     * Takes over the stored pricing of a branch, unless the form now belongs to another one. `sent` is the form as it was sent,
     * as JSON: edits made since then stay.
     */
    saved(id: string, p: Pricing, sent: string) {
      if (!form.value || id !== owner.value || id !== branchId.value) return
      if (JSON.stringify(form.value) === sent) fill(p)
      else stored.value = JSON.stringify(formOf(p))
    },
  }
}
