import { onScopeDispose, ref } from 'vue'

import { frameless } from '../shell/frame'

/** Keeps the screen awake while a view is shown, as far as the browser can. The browser lets go when the tab is hidden. */
export function useAwake(): void {
  let lock: WakeLockSentinel | undefined
  let over = false
  const hold = async () => {
    if (document.visibilityState !== 'visible' || over || !('wakeLock' in navigator)) return
    lock = await navigator.wakeLock.request('screen').catch(() => undefined) // low battery: the device's own choice
    if (over) void lock?.release()
  }
  const again = () => void hold()
  document.addEventListener('visibilitychange', again)
  void hold()
  onScopeDispose(() => {
    over = true
    document.removeEventListener('visibilitychange', again)
    void lock?.release()
  })
}

/** The whole screen for a view, without the frame around it. */
export function useFullScreen() {
  const full = ref(document.fullscreenElement !== null)
  const heard = () => {
    full.value = document.fullscreenElement !== null
    frameless.value = full.value
  }
  document.addEventListener('fullscreenchange', heard)
  onScopeDispose(() => {
    document.removeEventListener('fullscreenchange', heard)
    frameless.value = false
    if (document.fullscreenElement) void document.exitFullscreen()
  })
  return {
    full,
    possible: document.fullscreenEnabled,
    toggle: () => (full.value ? document.exitFullscreen() : document.documentElement.requestFullscreen()),
  }
}
