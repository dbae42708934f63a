import { useRouter, type RouteLocationRaw } from 'vue-router'

/** How a dialog over the menu is left: as the back button does where the menu was before, so that no history piles up. */
export function useOverMenu(below: RouteLocationRaw = { name: 'order' }): () => void {
  const router = useRouter()
  return () => {
    const menu = router.resolve(below).fullPath
    if ((history.state as { back?: string } | null)?.back === menu) router.back()
    else void router.replace(menu)
  }
}
