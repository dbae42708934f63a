import { onScopeDispose, ref, watch, type Ref } from 'vue'

/** Returns the current section: the last one whose heading has scrolled under the bars. */
export function useScrollSpy(ids: Ref<string[]>, prefix: string, offset: number) {
  const active = ref('')
  let asked = 0

  function look(): void {
    asked = 0
    let found = ids.value[0] ?? ''
    for (const id of ids.value) {
      const top = document.getElementById(prefix + id)?.getBoundingClientRect().top
      if (top !== undefined && top <= offset) found = id
    }
    // At the end of the page the last section is the current one, even if it is short.
    const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2
    active.value = end && scrollY > 0 ? (ids.value.at(-1) ?? found) : found
  }

  function scrolled(): void {
    asked ||= requestAnimationFrame(look)
  }

  addEventListener('scroll', scrolled, { passive: true })
  // Positions are read in the next frame. Reading them at once would force a layout in the task that renders the sections.
  watch(ids, (now) => {
    if (!now.includes(active.value)) active.value = now[0] ?? ''
    scrolled()
  }, { flush: 'post', immediate: true })
  onScopeDispose(() => {
    removeEventListener('scroll', scrolled)
    cancelAnimationFrame(asked)
  })
  return active
}
