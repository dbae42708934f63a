import { onMounted, onScopeDispose, type Ref } from 'vue'

/** Publishes the height of the bars at the top as the CSS variable --top: a banner changes it. */
export function useTop(bars: Readonly<Ref<HTMLElement | null>>): void {
  if (!('ResizeObserver' in window)) return
  const measured = new ResizeObserver(() => {
    const height = bars.value && getComputedStyle(bars.value).position === 'sticky' ? bars.value.offsetHeight : 0
    document.documentElement.style.setProperty('--top', `${String(height)}px`)
  })
  onMounted(() => {
    if (bars.value) measured.observe(bars.value)
  })
  onScopeDispose(() => {
    measured.disconnect()
  })
}
