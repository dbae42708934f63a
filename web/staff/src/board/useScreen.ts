import { onScopeDispose, ref, watch, type Ref } from 'vue'

import { frameless } from '../shell/frame'
import { recall, remember } from '../shell/kept'
import { person } from '../shell/session'

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

/** How many columns of a least width, in px, fit into an element with the gaps between them. */
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
    take(el.getBoundingClientRect().width) // before it is painted: the observer is called after that
    observer.observe(el)
  }, { immediate: true, flush: 'post' })
  onScopeDispose(() => {
    observer.disconnect()
  })
  return fit
}

/** Whether the device is a kitchen's tablet, which belongs to its board until someone has left the full screen there. */
function belongsToKitchen(): boolean {
  return person.value?.account.role === 'KITCHEN' && matchMedia('(pointer: coarse)').matches && recall('full') !== 'off'
}

/** The whole screen for a view, without the frame around it. A kitchen's tablet takes it with the first touch. */
export function useFullScreen() {
  const full = ref(document.fullscreenElement !== null)
  const heard = () => {
    full.value = document.fullscreenElement !== null
    frameless.value = full.value
  }
  // Browsers allow it only in response to a touch.
  const first = () => {
    document.removeEventListener('pointerup', first)
    if (document.fullscreenEnabled && !document.fullscreenElement && belongsToKitchen()) {
      void document.documentElement.requestFullscreen().catch(() => undefined)
    }
  }
  document.addEventListener('fullscreenchange', heard)
  document.addEventListener('pointerup', first)
  onScopeDispose(() => {
    document.removeEventListener('fullscreenchange', heard)
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
