import { computed, reactive, ref, shallowRef, watch, type Ref } from 'vue'

import { branchId, changeBranch } from '../shell/branch'
import { t } from '../shell/i18n'
import { useDo } from '../shell/query'
import { api } from '../shell/session'
import { useUnsaved } from '../shell/unsaved'
import { inOrder, type Table } from './floor'
import { PlanDraft, type Edit } from './planDraft'

/**
 * The changes to the plan of the branch. They stay while the tables are reloaded. Leaving the page or the branch with unsaved
 * changes asks first.
 */
export function usePlan(tables: Ref<readonly Table[] | undefined>) {
  const draft = shallowRef<PlanDraft>()
  const lost = ref<string[]>([]) // labels of tables whose place another user has taken
  let branch = ''

  function take() {
    if (!tables.value) return
    if (!draft.value) {
      branch = branchId.value
      draft.value = reactive(new PlanDraft(tables.value)) as PlanDraft
    } else if (branchId.value === branch) {
      lost.value = [...lost.value, ...draft.value.rebase(tables.value)]
    }
  }
  watch(tables, take, { immediate: true })
  watch(branchId, async (now) => {
    if (!draft.value || now === branch) return
    if (!(await mayLeave())) {
      changeBranch(branch)
      return
    }
    draft.value = undefined
    lost.value = []
    take()
  })

  const changed = computed(() => draft.value?.changed ?? 0)

  const mayLeave = useUnsaved(() => changed.value > 0, () => ({ title: t('tables.plan_leave'), action: t('tables.plan_discard') }))

  const save = useDo(
    (edits: Edit[]) => api.PUT('/api/branches/{id}/floor-plan', { params: { path: { id: Number(branch) } }, body: { tables: edits } }),
    { touches: ['tables'], done: () => t('tables.plan_saved') },
  )

  return {
    draft, changed, lost,
    saving: save.isPending,
    /** Saves the changes and reports whether that succeeded. A failure is shown, and the changes stay. */
    async send(): Promise<boolean> {
      lost.value = []
      const edits = draft.value?.edits() ?? []
      if (edits.length === 0) return true
      return save.mutateAsync(edits).then(({ items }) => {
        draft.value?.rebase(inOrder(items))
        return true
      }, () => false)
    },
  }
}
