import { computed, shallowRef, toValue, type MaybeRefOrGetter } from 'vue'
import { useRouter } from 'vue-router'

import { answer } from '@shared/api/client'
import { t } from '../shell/i18n'
import { useAsk, useDo } from '../shell/query'
import { api } from '../shell/session'
import { useMenus } from './lists'
import type { Line } from './menuEditor'
import type { PutGroup, VersionProblem } from './options'

/** The fields of a draft's item that can be changed. */
export type Entry = Pick<Line, 'price' | 'dailyQuota' | 'isActive'> & { sort?: number }

// Why the last attempt to publish a draft was refused. The problems of a dish are dropped when its options change.
const refused = shallowRef<{ version: number; problems: VersionProblem[] }>()

/** A version of a menu, the live version, and the changes of a draft. */
export function useVersion(version: MaybeRefOrGetter<string>) {
  const router = useRouter()
  const id = computed(() => Number(toValue(version)))
  const read = (n: number) => api.GET('/api/menu-versions/{id}', { params: { path: { id: n } } })
  const asked = useAsk('version', () => read(id.value), () => [id.value])
  const whole = asked.data
  const menus = useMenus()
  const menu = computed(() => menus.data.value?.items.find((m) => m.id === whole.value?.menuId))
  const inForce = computed(() => Number(menu.value?.publishedVersionId ?? 0))
  const former = useAsk('version', () => read(inForce.value), () => [inForce.value], {
    enabled: () => inForce.value !== 0 && inForce.value !== id.value && whole.value?.status === 'DRAFT',
  })

  const put = ({ itemId, ...body }: Entry & { itemId: string }) =>
    api.PUT('/api/menu-versions/{id}/items/{itemId}', { params: { path: { id: id.value, itemId: Number(itemId) } }, body })
  const touches = ['version']
  const edit = useDo(put, { touches })
  const place = useDo(async (lines: Line[]) => {
    for (const l of lines.slice(1)) await answer(put(entryOf(l)))
    return put(entryOf(lines[0] as Line))
  }, { touches })
  const add = useDo(
    (body: Entry & { dishId: string }) => api.POST('/api/menu-versions/{id}/items', { params: { path: { id: id.value } }, body }),
    { touches },
  )
  const remove = useDo(
    (itemId: string) =>
      api.DELETE('/api/menu-versions/{id}/items/{itemId}', { params: { path: { id: id.value, itemId: Number(itemId) } } }),
    { touches },
  )
  const problems = computed(() => (refused.value?.version === id.value ? refused.value.problems : []))
  const publish = useDo(() => api.POST('/api/menu-versions/{id}/publish', { params: { path: { id: id.value } } }), {
    touches: ['version', 'versions', 'menus', 'dishes', 'availability', 'option-groups'], done: () => t('menu.published'),
    failed: (e) => {
      if (e.code !== 'version_incomplete' || !Array.isArray(e.problem.problems)) return false
      refused.value = { version: id.value, problems: e.problem.problems as VersionProblem[] }
      return true
    },
  })

  const forget = (itemIds: readonly string[]) => {
    refused.value = { version: id.value, problems: problems.value.filter((p) => !itemIds.includes(p.itemId)) }
  }
  const putGroups = ({ itemId, groups }: ItemGroups) =>
    api.PUT('/api/menu-versions/{id}/items/{itemId}/groups', { params: { path: { id: id.value, itemId: Number(itemId) } }, body: { groups } })
  const regroup = useDo(async (items: ItemGroups[]) => {
    for (const i of items.slice(1)) await answer(putGroups(i))
    return putGroups(items[0] as ItemGroups)
  }, {
    touches: [...touches, 'option-groups'],
    done: (_, items) => {
      forget(items.map((i) => i.itemId))
      return undefined
    },
  })
  const attach = useDo(
    ({ itemIds, group: { groupId, ...settings } }: { itemIds: string[]; group: PutGroup }) =>
      api.POST('/api/menu-versions/{id}/groups/{groupId}/attach', {
        params: { path: { id: id.value, groupId: Number(groupId) } }, body: { itemIds, settings },
      }),
    {
      touches: [...touches, 'option-groups'],
      done: (_, { itemIds }) => {
        forget(itemIds)
        return t('menu.attach_done', { count: itemIds.length })
      },
    },
  )
  const discard = useDo(() => api.DELETE('/api/menu-versions/{id}', { params: { path: { id: id.value } } }), {
    touches: ['versions', 'menus'], done: () => t('menu.discarded'),
  })

  return {
    asked, whole, menu, former: former.data, edit, place, add, remove, publish, problems, regroup, attach,
    discard: () => discard.mutateAsync(undefined).then(() => router.replace({ name: 'menus' }), () => undefined),
  }
}

/** The option groups of an item, which replace the current ones. */
export interface ItemGroups {
  itemId: string
  groups: PutGroup[]
}

function entryOf({ itemId, price, dailyQuota, isActive, sort }: Line): Entry & { itemId: string } {
  return { itemId, price, dailyQuota, isActive, sort }
}
