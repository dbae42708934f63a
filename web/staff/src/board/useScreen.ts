import { onScopeDispose, ref, watch, type Ref } from 'vue'

import { frameless } from '../shell/frame'
import { recall, remember } from '../shell/storage'
import { person } from '../shell/session'

/** Keeps the screen awake while a view is shown, if the browser can. The browser releases the lock when the tab is hidden. */
export function useAwake(): void {
  let lock: WakeLockSentinel | undefined
  let over = false
  const hold = async () => {
    if (document.visibilityState !== 'visible' || over || !('wakeLock' in navigator)) return
    lock = await navigator.wakeLock.request('screen').catch(() => undefined) // the device may refuse, such as with a low battery
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

/** The number of columns of a minimum width, in px, that fit into an element with the gaps between them. */
export function useFit(element: Readonly<Ref<HTMLElement | null>>, least: number, gap = 12) {
  const fit = ref(1)
  const take = (width: number) => {
    fit.value = Math.max(1, Math.floor((width + gap) / (least + gap)))
  }
  const observer = new ResizeObserver(([entry]) => {
    if (entry) take(entry.contentRect.width)
  })
  watch(element, (el) => {
    observer.disconnect()
    if (!el) return
    take(el.getBoundingClientRect().width) // sets the number before the first paint; the observer is called only after it
    observer.observe(el)
  }, { immediate: true, flush: 'post' })
  onScopeDispose(() => {
    observer.disconnect()
  })
  return fit
}

/** Whether the device is a kitchen's tablet, which shows its board in full screen until someone leaves the full screen. */
function belongsToKitchen(): boolean {
  return person.value?.account.role === 'KITCHEN' && matchMedia('(pointer: coarse)').matches && recall('full') !== 'off'
}

/**
 * Shows a view in full screen, without the frame. A kitchen's tablet enters it at once if the user has just pressed a
 * button, such as that of the login, and otherwise with the first touch.
 */
export function useFullScreen() {
  const full = ref(document.fullscreenElement !== null)
  const onFullScreenChange = () => {
    full.value = document.fullscreenElement !== null
    frameless.value = full.value
    if (full.value) document.removeEventListener('pointerup', first)
  }
  const enter = async () => {
    if (document.fullscreenEnabled && !document.fullscreenElement && belongsToKitchen()) {
      await document.documentElement.requestFullscreen().catch(() => undefined)
    }
  }
  // Browsers allow it only a few seconds after a press or touch.
  const first = () => {
    document.removeEventListener('pointerup', first)
    void enter()
  }
  document.addEventListener('fullscreenchange', onFullScreenChange)
  document.addEventListener('pointerup', first)
  if ('userActivation' in navigator && navigator.userActivation.isActive) void enter()
  onScopeDispose(() => {
    document.removeEventListener('fullscreenchange', onFullScreenChange)
    document.removeEventListener('pointerup', first)
    frameless.value = false
    if (document.fullscreenElement) void document.exitFullscreen()
  })
  return {
    full,
    possible: document.fullscreenEnabled,
    toggle: () => {
      remember('full', full.value ? 'off' : 'on')
      return full.value ? document.exitFullscreen() : document.documentElement.requestFullscreen()
    },
  }
}
