import { useRouter, type RouteLocationRaw } from 'vue-router'

/** Leaves a dialog over the menu. If the menu is the previous page, it goes back, so that the history does not grow. */
export function useMenuDialog(below: RouteLocationRaw = { name: 'order' }): () => void {
  const router = useRouter()
  return () => {
    const menu = router.resolve(below).fullPath
    if ((history.state as { back?: string } | null)?.back === menu) router.back()
    else void router.replace(menu)
  }
}
