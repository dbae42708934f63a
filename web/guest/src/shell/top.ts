import { onMounted, onScopeDispose, type Ref } from 'vue'

/** Keeps the CSS variable --top at the height of the bars at the top, which a banner changes. */
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
