import { onMounted, onUnmounted } from 'vue'
import { onBeforeRouteLeave } from 'vue-router'

import { confirm, type Question } from './notices'

/**
 * Asks before the user leaves a page with unsaved changes. A page that can also show something else, such as another branch,
 * calls the returned function first: it asks the same and reports whether the changes may be discarded.
 */
export function useUnsaved(changed: () => boolean, question: () => Pick<Question, 'title' | 'action'>): () => Promise<boolean> {
  async function mayLeave(): Promise<boolean> {
    return !changed() || (await confirm({ ...question(), danger: true })) !== undefined
  }
  onBeforeRouteLeave(mayLeave)
  const unload = (e: BeforeUnloadEvent) => {
    if (changed()) e.preventDefault()
  }
  onMounted(() => {
    addEventListener('beforeunload', unload)
  })
  onUnmounted(() => {
    removeEventListener('beforeunload', unload)
  })
  return mayLeave
}
