import { ref } from 'vue'

import { recall, remember } from '../shell/storage'

/** Whether this device plays a sound for new and late tickets. The default is on. */
export const wanted = ref(recall('bell') !== 'off')

/** Whether the browser allows sound, which needs a first touch of the page. */
export const unlocked = ref(false)

let speaker: AudioContext | undefined

/** Turns the bell on or off. Call it from a touch or a click, because browsers start audio only then. */
export async function toggleBell(): Promise<void> {
  wanted.value = !(wanted.value && unlocked.value)
  remember('bell', wanted.value ? 'on' : 'off')
  if (!wanted.value) return
  await unlock()
  ring()
}

/**
 * Starts audio at any touch or key until the returned function is called. It keeps listening, because tablets stop audio
 * when they sleep.
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

/** Plays two short rising tones, or three falling ones for a late ticket, if the sound is on and the browser allows it. */
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
    volume.disconnect() // frees the tone's audio nodes, because a board stays open for days
  }
  source.start(at)
  source.stop(at + 0.4)
}
