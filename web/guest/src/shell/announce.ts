import { ref } from 'vue'

/** The text of the live region (aria-live="polite"). */
export const spoken = ref('')

/** Announces a text, even when it equals the last one. */
export function announce(text: string): void {
  spoken.value = spoken.value === text ? `${text}\u00a0` : text
}
