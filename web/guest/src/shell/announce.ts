import { ref } from 'vue'

/** What assistive technology is told next, politely. */
export const spoken = ref('')

/** Says something once, even when the same was said before. */
export function announce(text: string): void {
  spoken.value = spoken.value === text ? `${text}\u00a0` : text
}
