import { computed, onScopeDispose, ref, watch } from 'vue'

import type { Answer } from '@shared/api/client'
import { useDo, type DoOptions } from './query'

/**
 * Tells the openings of a dialog apart: `const opened = useOpening(() => props.account?.id)`. A call returns whether the dialog
 * still shows what it shows now. It does not after it was closed, even if it was opened again for the same.
 */
export function useOpening(shown: () => unknown): () => () => boolean {
  const opening = ref(0)
  const next = () => { opening.value++ }
  watch(shown, next, { flush: 'sync' })
  onScopeDispose(next)
  return () => {
    const now = opening.value
    return () => opening.value === now
  }
}

interface FormDoOptions<In, Out> extends Pick<DoOptions<In, Out>, 'touches' | 'done'> {
  finish: (out: Out, given: In) => void // closes or clears the dialog
  failed?: (fault: Parameters<NonNullable<DoOptions<In, Out>['failed']>>[0]) => boolean // returns true if the dialog shows it
}

/**
 * Changes something through the API with what a dialog contains. The dialog may be opened for something else before the
 * answer arrives, and even before the request is sent, because that may need a new token first. Therefore `prepare` reads
 * all values of the request at once, and returns the function that sends it. `finish` and `failed` are called only if the
 * dialog still shows what was sent.
 */
export function useFormDo<In, Out>(
  shown: () => unknown, prepare: (given: In) => () => Promise<Answer<Out>>, options: FormDoOptions<In, Out>,
) {
  interface Sent { given: In; call: () => Promise<Answer<Out>>; isShown: () => boolean }
  const opened = useOpening(shown)
  const latest = ref<() => boolean>(() => false)
  const { touches = [], done } = options
  const change = useDo<Sent, Out>((s) => s.call(), {
    touches,
    ...(done === undefined ? {} : { done: typeof done === 'function' ? (out: Out, s: Sent) => done(out, s.given) : done }),
    failed: (e, s) => s.isShown() && (options.failed?.(e) ?? false),
  })
  return {
    /** Whether a request of the dialog as it is open now has no answer yet. */
    isPending: computed(() => change.isPending.value && latest.value()),
    mutate(given: In) {
      const sent: Sent = { given, call: prepare(given), isShown: opened() }
      latest.value = sent.isShown
      void change.mutateAsync(sent).then((out) => {
        if (sent.isShown()) options.finish(out, given)
      }, () => undefined) // the error is shown
    },
  }
}
