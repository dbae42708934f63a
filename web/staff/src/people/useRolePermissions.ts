import { computed, ref, watch } from 'vue'

import { answer } from '@shared/api/client'
import { t } from '../shell/i18n'
import { useAsk, useDo } from '../shell/query'
import { roleName } from '../shell/roles'
import { api } from '../shell/session'
import { difference, rebased } from './matrix'
import { askRoles, type Role } from './people'

type Ids = ReadonlySet<string>

const idsOf = (r: Role | undefined): Ids => new Set(r?.permissionIds ?? [])

/** The permissions of a role, and the user's changes to them. Changes by others are kept, also those that the page has not read yet. */
export function useRolePermissions(id: () => string) {
  const asked = useAsk('roles', askRoles)
  const role = computed(() => asked.data.value?.items.find((r) => r.id === id()))
  const before = computed(() => idsOf(role.value))
  const held = ref<Ids>(new Set())
  watch([() => role.value?.id, before] as const, ([is, now], [was, earlier]) => {
    held.value = is === was && earlier ? rebased(now, earlier, held.value) : new Set(now)
  }, { immediate: true })

  let elsewhere = false // others had changed the role when it was saved
  const save = useDo(
    // The API sets all permissions. The old ones would grant again what a colleague has withdrawn.
    async (g: { id: string; before: Ids; held: Ids }) => {
      const found = (await answer(askRoles())).items.find((r) => r.id === g.id)
      const now = found ? idsOf(found) : g.before
      elsewhere = difference(now, g.before) > 0
      return api.PUT('/api/roles/{id}/permissions', {
        params: { path: { id: Number(g.id) } }, body: { permissionIds: [...rebased(now, g.before, g.held)] },
      })
    },
    {
      touches: ['roles'],
      done: (r) => t(elsewhere ? 'people.permissions_merged' : 'people.permissions_saved', { name: roleName(r.name) }),
    },
  )

  return {
    asked, role, held,
    changes: computed(() => difference(before.value, held.value)),
    saving: save.isPending,
    undo() {
      held.value = new Set(before.value)
    },
    save() {
      if (role.value) save.mutate({ id: role.value.id, before: before.value, held: held.value })
    },
  }
}
