import { ref } from 'vue'

import { faultText } from './faults'
import { login } from './session'

/** The login of a form: whether it is running, and why the last one failed. */
export function useLogin() {
  const busy = ref(false)
  const problem = ref('')

  /** Logs in, and then opens what follows. A call while one is running does nothing. */
  async function enter(name: string, password: string, open?: () => Promise<unknown>): Promise<void> {
    if (busy.value) return
    busy.value = true
    problem.value = ''
    try {
      await login(name, password)
      await open?.()
    } catch (e) {
      problem.value = faultText(e)
    } finally {
      busy.value = false
    }
  }

  return { busy, problem, enter }
}
