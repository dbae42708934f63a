import type { Server } from './server'
import { setUp } from './staff'

/** An answer of which only the id matters. */
export interface Named {
  id: string
}

/** Adds a group with options to the library, and returns the options' ids. */
async function addGroup(server: Server, kind: string, name: string, options: string[]): Promise<{ id: string; options: string[] }> {
  const { id } = await server.staff<Named>('POST', '/api/option-groups', { kind, names: { en: name } })
  const ids: string[] = []
  for (const option of options) {
    ids.push((await server.staff<Named>('POST', `/api/option-groups/${id}/options`, { names: { en: option } })).id)
  }
  return { id, options: ids }
}

const rules = { min: 0, max: null, free: 0, maxEach: 1, credit: false, defaultsCharge: true }
const priced = (ids: string[], prices: number[]) =>
  ids.map((optionId, n) => ({ optionId, price: prices[n] ?? 0, isDefault: false, isActive: true }))

/** Sets up a restaurant that sells pearl milk tea with sizes and toppings, one of which has options of its own. */
export async function publishTea(server: Server): Promise<{ branchId: string; pearls: string }> {
  const { branchId } = await setUp(server)
  const size = await addGroup(server, 'SIZE', 'Size', ['M', 'L'])
  const toppings = await addGroup(server, 'CHOICE', 'Toppings', ['Pearls', 'Pudding'])
  const warmth = await addGroup(server, 'CHOICE', 'Served', ['Warm', 'Cold'])
  const { items: menus } = await server.staff<{ items: Named[] }>('GET', `/api/menus?branchId=${branchId}`)
  const draft = await server.staff<Named>('POST', `/api/menus/${menus[0]?.id ?? ''}/versions`, {})
  const version = await server.staff<{ items: { itemId: string; names: Record<string, string> }[] }>('GET', `/api/menu-versions/${draft.id}`)
  const tea = version.items.find((i) => i.names.en === 'Pearl milk tea')
  await server.staff('PUT', `/api/menu-versions/${draft.id}/items/${tea?.itemId ?? ''}/groups`, {
    groups: [
      { groupId: size.id, ...rules, min: 1, max: 1, options: priced(size.options, [45_000, 55_000]) },
      { groupId: toppings.id, ...rules, max: 3, maxEach: 2, options: priced(toppings.options, [8000, 10_000]) },
      { groupId: warmth.id, ...rules, min: 1, max: 1, parentOptionId: toppings.options[1], options: priced(warmth.options, [0, 0]) },
    ],
  })
  await server.staff('POST', `/api/menu-versions/${draft.id}/publish`)
  return { branchId, pearls: toppings.options[0] ?? '' }
}
