import { ref } from 'vue'

import { recall, remember } from '../shell/kept'

/** Whether this device plays a sound for new tickets. */
export const wanted = ref(recall('bell') === 'on')

/** Whether the browser allows sound, which needs a first touch of the page. */
export const unlocked = ref(false)

let speaker: AudioContext | undefined

/** Turns the bell on or off. Only within a touch or a click the browser lets sound begin. */
export async function toggleBell(): Promise<void> {
  wanted.value = !(wanted.value && unlocked.value)
  remember('bell', wanted.value ? 'on' : 'off')
  if (!wanted.value) return
  speaker ??= new AudioContext()
  await speaker.resume()
  unlocked.value = speaker.state === 'running'
  ring()
}

/** Two short tones, the second one higher, where sound is wanted and allowed. */
export function ring(): void {
  if (!wanted.value || speaker?.state !== 'running') return
  tone(speaker, 660, 0)
  tone(speaker, 880, 0.18)
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
  source.start(at)
  source.stop(at + 0.4)
}
