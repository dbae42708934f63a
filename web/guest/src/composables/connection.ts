import { ref } from 'vue'

/** Whether the server was out of reach when it was last asked for something. */
export const offline = ref(false)

/** Learns from a device that knows itself whether it has a network. */
export function watchConnection(): void {
  addEventListener('offline', () => {
    offline.value = true
  })
  addEventListener('online', () => {
    offline.value = false
  })
}
