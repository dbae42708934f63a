import { computed, ref, shallowRef, watch, type Ref } from 'vue'

import { choicesKey, type Choice } from '@shared/options'

/** One portion of a dish, with its own options and note. */
export interface Portion {
  options: Choice[] // in canonical order
  notes: string
  price: number
}

/** Equal portions are counted, in the order in which each came first. */
export function counted(portions: readonly Portion[]): (Portion & { qty: number })[] {
  const lines = new Map<string, Portion & { qty: number }>()
  for (const p of portions) {
    const key = `${choicesKey(p.options)} ${p.notes}`
    const line = lines.get(key)
    if (line) line.qty++
    else lines.set(key, { ...p, qty: 1 })
  }
  return [...lines.values()]
}

/**
 * The portions of a dish that a guest orders at once: all the same, or each with its own options. Each portion begins with the
 * options of the one before it, because most of them are equal.
 */
export function usePortions(qty: Ref<number>) {
  const each = ref(false)
  const done = shallowRef<Portion[]>([])
  const splits = computed(() => each.value && qty.value > 1)

  // A smaller quantity keeps the portions that are chosen already; the last one is chosen again.
  watch([qty, splits], () => {
    done.value = splits.value ? done.value.slice(0, qty.value - 1) : []
  })

  return {
    each,
    splits,
    /** The number of the portion that is being chosen, from 1. */
    step: computed(() => done.value.length + 1),
    /** Whether more portions have to be chosen after this one. */
    more: computed(() => splits.value && done.value.length + 1 < qty.value),
    /** Stores a portion and goes on to the next one. */
    next: (p: Portion) => (done.value = [...done.value, p]),
    /** The price of all portions. Those that are not chosen yet count as much as the current one. */
    total: (unit: number) => done.value.reduce((sum, p) => sum + p.price, 0) + unit * (qty.value - done.value.length),
    /** The lines for the cart, including the current portion. */
    lines: (p: Portion) => (splits.value ? counted([...done.value, p]) : [{ ...p, qty: qty.value }]),
  }
}
