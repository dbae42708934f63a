import { shallowRef } from 'vue'

import { language } from '@shared/i18n'

import { readBoot } from '../api/boot'
import { pushKey } from './guest'
import type { NoticeSource } from './source'

// A browser has one subscription. It belongs to the reader that has subscribed last.
const key = 'comanda.push'

interface Stored {
  reader: string
  id: string
}

const stored = shallowRef<Stored | undefined>(restore())

function restore(): Stored | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(key) ?? 'null') as Partial<Stored> | null
    return typeof found?.reader === 'string' && typeof found.id === 'string' ? { reader: found.reader, id: found.id } : undefined
  } catch {
    return undefined
  }
}

function keep(next: Stored | undefined): void {
  stored.value = next
  try {
    if (next) localStorage.setItem(key, JSON.stringify(next))
    else localStorage.removeItem(key)
  } catch {
    // A browser that stores nothing forgets it when the page is closed.
  }
}

/** Whether this browser can get notices while the page is closed. */
export function canPush(): boolean {
  return readBoot().worker && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window
}

/** Whether this browser gets the notices of a reader. */
export function pushes(source: NoticeSource): boolean {
  return stored.value?.reader === source.key && Notification.permission === 'granted'
}

export type PushResult = 'on' | 'denied' | 'failed'

/** Subscribes this browser. The browser asks for permission, so a press must come before. */
export async function startPush(source: NoticeSource): Promise<PushResult> {
  if (!canPush()) return 'failed'
  if ((await Notification.requestPermission()) !== 'granted') return 'denied'
  try {
    const registration = await navigator.serviceWorker.getRegistration()
    if (!registration) return 'failed'
    const applicationServerKey = await pushKey()
    const wanted: PushSubscriptionOptionsInit = { userVisibleOnly: true, applicationServerKey }
    const subscription = await registration.pushManager.subscribe(wanted).catch(async (e: unknown) => {
      // A subscription with the key of another installation is useless.
      const before = await registration.pushManager.getSubscription()
      if (!before) throw e
      await before.unsubscribe()
      return registration.pushManager.subscribe(wanted)
    })
    const { endpoint, keys } = subscription.toJSON()
    if (!endpoint || !keys?.p256dh || !keys.auth) return 'failed'
    const { id } = await source.subscribe({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth }, locale: language.value })
    keep({ reader: source.key, id })
    return 'on'
  } catch {
    return 'failed' // private windows and some browsers offer no push service
  }
}

/** Ends the subscription of this browser. */
export async function stopPush(source: NoticeSource): Promise<void> {
  const before = stored.value
  keep(undefined)
  if (before?.reader === source.key) await source.unsubscribe(before.id).catch(() => undefined)
  const registration = await navigator.serviceWorker.getRegistration()
  await (await registration?.pushManager.getSubscription())?.unsubscribe()
}
