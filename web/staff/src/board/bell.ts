import { ref } from 'vue'

import { recall, remember } from '../shell/kept'

/** Whether this device plays a sound for new and late tickets; it does until someone turns it off. */
export const wanted = ref(recall('bell') !== 'off')

/** Whether the browser allows sound, which needs a first touch of the page. */
export const unlocked = ref(false)

let speaker: AudioContext | undefined

/** Turns the bell on or off. Only within a touch or a click the browser lets sound begin. */
export async function toggleBell(): Promise<void> {
  wanted.value = !(wanted.value && unlocked.value)
  remember('bell', wanted.value ? 'on' : 'off')
  if (!wanted.value) return
  await unlock()
  ring()
}

/**
 * Lets sound begin with any touch or key, until the returned function is called. It stays on guard, because tablets
 * take sound away when they sleep.
 */
export function armBell(): () => void {
  const touched = () => {
    if (wanted.value && !unlocked.value) void unlock()
  }
  document.addEventListener('pointerup', touched)
  document.addEventListener('keydown', touched)
  return () => {
    document.removeEventListener('pointerup', touched)
    document.removeEventListener('keydown', touched)
  }
}

async function unlock(): Promise<void> {
  if (!speaker) {
    const made = new AudioContext()
    made.onstatechange = () => {
      unlocked.value = made.state === 'running'
    }
    speaker = made
  }
  await speaker.resume().catch(() => undefined)
  unlocked.value = speaker.state === 'running'
}

/** Two short tones, the second one higher, where sound is wanted and allowed; three for a late ticket, falling. */
export function ring(late = false): void {
  if (!wanted.value || speaker?.state !== 'running') return
  const tones = late ? [880, 660, 440] : [660, 880]
  tones.forEach((hertz, n) => {
    if (speaker) tone(speaker, hertz, n * 0.18)
  })
}

function tone(on: AudioContext, hertz: number, after: number): void {
  const at = on.currentTime + after
  const source = on.createOscillator()
  const volume = on.createGain()
  source.frequency.value = hertz
  volume.gain.setValueAtTime(0.0001, at)
  volume.gain.exponentialRampToValueAtTime(0.4, at + 0.02)
  volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.35)
  source.connect(volume).connect(on.destination)
  source.onended = () => {
    volume.disconnect() // a screen plays for days; nothing of a tone may stay
  }
  source.start(at)
  source.stop(at + 0.4)
}
