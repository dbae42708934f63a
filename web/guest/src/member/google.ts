import { readBoot } from '../api/boot'

/** Whether the restaurant offers to sign in with Google. */
export const offersGoogle = (): boolean => readBoot().google

const key = 'comanda.google.to'

/** Leaves for Google's page. It returns to /shop/google, which continues with the path. */
export function leaveFor(url: string, to: string): void {
  sessionStorage.setItem(key, to)
  location.assign(url)
}

/** The path that the sign-in was begun for; undefined if this browser tab has not begun one. */
export function takePath(): string | undefined {
  const to = sessionStorage.getItem(key) ?? undefined
  sessionStorage.removeItem(key)
  return to
}

/** Whether a state is that of connecting an account, not of a login. */
export function connects(state: string): boolean {
  return state.endsWith('.link')
}
